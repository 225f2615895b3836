/* What the bindings share.  They alone know of Python, by its limited interface: one file serves every Python from 3.11 on. */
#ifndef HOCKEYSTICK_BINDINGS_H
#define HOCKEYSTICK_BINDINGS_H

#include <pyconfig.h>
#if !defined(Py_LIMITED_API) && !defined(Py_GIL_DISABLED) && !defined(PYPY_VERSION)
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "types.h"

/* An argument that is an array of doubles (complex numbers are two), C-contiguous */
typedef struct {
    double *at; /* the first */
    Size size;  /* how many */
} Array;

/* The same of whole numbers: of 64 bits, or random words of 32 */
typedef struct {
    void *at;  /* the first */
    Size size; /* how many */
} Wholes;

/* Arrays that are to be given back */
typedef struct {
    Py_buffer views[8]; /* so many at most */
    int count;          /* of them */
} Held;

/* Arguments by a format: 'a' an array, 'i' one of whole numbers, 'w' one of random words, 'd' a double, 'n' a whole number.  0 if
 * they do not fit; then an exception is set. */
int hs_parse(Held *held, PyObject *const *args, Py_ssize_t count, const char *format, ...);
void hs_release(Held *held);

#define FUNCTION_OF_PYTHON(name) static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count)
#define METHOD(name) {#name, (PyCFunction)(void (*)(void))py_##name, METH_FASTCALL, NULL}

extern PyMethodDef hs_py_loops[], hs_py_answers[], hs_py_checks[], hs_py_draws[]; /* each ends with an empty one */

#endif
