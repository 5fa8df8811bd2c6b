import made_up_run
import pytest


@pytest.fixture(scope="session")
def model():
    return made_up_run.made_up_model()
