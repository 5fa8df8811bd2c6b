"""Newton methods: nonsmooth ones on complementarity functions, and primal ones on the relaxed problem."""
