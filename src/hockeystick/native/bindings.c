/* The module: its functions, and how their arguments are read. */
#include "bindings.h"
#include <stdarg.h>

void hs_release(Held *held) {
    while (held->count > 0)
        PyBuffer_Release(&held->views[--held->count]);
}

/* The next buffer; 0 if there is none */
static const Py_buffer *hold(Held *held, PyObject *argument, int flags) {
    Py_buffer *view = &held->views[held->count];
    if (PyObject_GetBuffer(argument, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags) < 0)
        return NULL;
    held->count++;
    return view;
}

/* The next array; 0 if it is none of doubles */
static int hold_doubles(Held *held, PyObject *argument, Py_ssize_t place, Array *array) {
    const Py_buffer *view = hold(held, argument, PyBUF_WRITABLE);
    if (!view)
        return 0;
    if (!view->format || (strcmp(view->format, "d") && strcmp(view->format, "Zd"))) {
        PyErr_Format(PyExc_TypeError, "argument %zd has no doubles", place + 1);
        return 0;
    }
    array->at = view->buf;
    array->size = view->len / (Size)sizeof(double);
    return 1;
}

/* The same of whole numbers: of 64 bits, to be written, or of 32 bits without sign */
static int hold_whole(Held *held, PyObject *argument, Py_ssize_t place, int wide, Wholes *array) {
    const Py_buffer *view = hold(held, argument, wide ? PyBUF_WRITABLE : PyBUF_SIMPLE);
    if (!view)
        return 0;
    if (!view->format || strlen(view->format) != 1 || !strchr(wide ? "lq" : "IL", *view->format) ||
        view->itemsize != (wide ? 8 : 4)) {
        PyErr_Format(PyExc_TypeError, "argument %zd has no whole numbers of %d bits", place + 1, wide ? 64 : 32);
        return 0;
    }
    array->at = view->buf;
    array->size = view->len / view->itemsize;
    return 1;
}

int hs_parse(Held *held, PyObject *const *args, Py_ssize_t count, const char *format, ...) {
    va_list into;
    Py_ssize_t place = 0;
    held->count = 0;
    va_start(into, format);
    for (; format[place] && place < count; place++) {
        if (format[place] == 'a') {
            if (!hold_doubles(held, args[place], place, va_arg(into, Array *)))
                break;
        } else if (format[place] == 'i' || format[place] == 'w') {
            if (!hold_whole(held, args[place], place, format[place] == 'i', va_arg(into, Wholes *)))
                break;
        } else if (format[place] == 'd') {
            double value = PyFloat_AsDouble(args[place]);
            if (value == -1.0 && PyErr_Occurred())
                break;
            *va_arg(into, double *) = value;
        } else {
            Size value = PyLong_AsSsize_t(args[place]);
            if (value == -1 && PyErr_Occurred())
                break;
            *va_arg(into, Size *) = value;
        }
    }
    va_end(into);
    if (!format[place] && place == count)
        return 1;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "expected arguments '%s', got %zd", format, count);
    hs_release(held);
    return 0;
}

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "core", "The loops that every question goes through.", -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_core(void) {
    PyObject *core = PyModule_Create(&module);
    if (core && (PyModule_AddFunctions(core, hs_py_answers) < 0 || PyModule_AddFunctions(core, hs_py_loops) < 0 ||
                 PyModule_AddFunctions(core, hs_py_checks) < 0 || PyModule_AddFunctions(core, hs_py_draws) < 0)) {
        Py_DECREF(core);
        return NULL;
    }
    return core;
}
