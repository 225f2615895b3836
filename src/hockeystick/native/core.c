/* The module: its functions, and how their arguments are read. */
#include "native.h"
#include <stdarg.h>
#include <string.h>

void hs_release(Held *held) {
    while (held->count > 0)
        PyBuffer_Release(&held->views[--held->count]);
}

int hs_parse(Held *held, PyObject *const *args, Size count, const char *format, ...) {
    va_list into;
    Size place = 0;
    held->count = 0;
    va_start(into, format);
    for (; format[place] && place < count; place++) {
        if (format[place] == 'a') {
            Array *array = va_arg(into, Array *);
            Py_buffer *view = &held->views[held->count];
            if (PyObject_GetBuffer(args[place], view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE) < 0)
                break;
            held->count++;
            if (!view->format || (strcmp(view->format, "d") && strcmp(view->format, "Zd"))) {
                PyErr_Format(PyExc_TypeError, "argument %zd has no doubles", place + 1);
                break;
            }
            array->at = view->buf;
            array->size = view->len / (Size)sizeof(double);
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

#define METHOD(name)                                                                                                               \
    { #name, (PyCFunction)(void (*)(void))native_##name, METH_FASTCALL, NULL }

static PyMethodDef methods[] = {
    METHOD(lay),
    METHOD(right_edge),
    METHOD(choose_step),
    METHOD(expand),
    METHOD(above),
    METHOD(decay),
    METHOD(excess),
    METHOD(terms),
    METHOD(sums),
    METHOD(cut),
    METHOD(epsilon),
    METHOD(epsilons),
    METHOD(rule),
    METHOD(far_off),
    METHOD(pieces),
    METHOD(bent),
    METHOD(marked),
    METHOD(gaussian),
    METHOD(response),
    METHOD(laplace),
    METHOD(gaussian_deltas),
    METHOD(sampled_deltas),
    METHOD(laplace_deltas),
    METHOD(once),
    METHOD(normals),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "core", "The loops that every question goes through.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_core(void) { return PyModule_Create(&module); }
