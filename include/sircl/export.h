/* Symbol visibility of the shared library: everything is hidden unless it is marked SIRCL_API. */
#ifndef SIRCL_EXPORT_H
#define SIRCL_EXPORT_H

#if defined(SIRCL_STATIC)
#define SIRCL_API
#elif defined(__GNUC__)
#define SIRCL_API __attribute__((visibility("default")))
#else
#define SIRCL_API
#endif

#endif
