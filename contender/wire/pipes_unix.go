//go:build unix

package wire

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"syscall"
)

// checkInheritable checks that fd is open and marks it close-on-exec.
func checkInheritable(fd int) error {
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return err
	}
	syscall.CloseOnExec(fd)
	return nil
}

// dialLoopback connects to a loopback address. It goes round package net on purpose:
// net brings cgo into a contender that has no use for it.
func dialLoopback(addr string) (io.ReadWriteCloser, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	if !to.Addr().IsLoopback() {
		return nil, errors.New("not a loopback address")
	}
	host := to.Addr().Unmap()
	var family int
	var sockaddr syscall.Sockaddr
	if host.Is4() {
		family, sockaddr = syscall.AF_INET, &syscall.SockaddrInet4{Port: int(to.Port()), Addr: host.As4()}
	} else {
		family, sockaddr = syscall.AF_INET6, &syscall.SockaddrInet6{Port: int(to.Port()), Addr: host.As16()}
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	syscall.CloseOnExec(fd)
	for {
		switch err := syscall.Connect(fd, sockaddr); err {
		case nil, syscall.EISCONN:
			return os.NewFile(uintptr(fd), addr), nil
		case syscall.EINTR, syscall.EALREADY: // a signal came; it still connects
		default:
			_ = syscall.Close(fd)
			return nil, fmt.Errorf("connect: %w", err)
		}
	}
}
