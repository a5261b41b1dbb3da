// Package uring speaks to the kernel's io_uring (Linux 6.1) by its system calls:
// one thread hands over requests to sockets and takes what became of them, many at
// a time. It knows what a load generator needs: send, receive into buffers that
// the kernel picks, poll, cancel and close.
package uring
