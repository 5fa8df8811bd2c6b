"""The method bilateral: contacts that touch become joints."""
