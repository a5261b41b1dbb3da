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

func checkInheritable(fd int) error {
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return err
	}
	syscall.CloseOnExec(fd)
	return nil
}

// dialLoopback connects to a loopback address. It does not use package net, which would link cgo into
// contenders.
func dialLoopback(addr string) (io.ReadWriteCloser, error) {
	target, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	if !target.Addr().IsLoopback() {
		return nil, errors.New("not a loopback address")
	}
	ip, port := target.Addr().Unmap(), int(target.Port())
	var family int
	var sockaddr syscall.Sockaddr
	if ip.Is4() {
		family, sockaddr = syscall.AF_INET, &syscall.SockaddrInet4{Port: port, Addr: ip.As4()}
	} else {
		family, sockaddr = syscall.AF_INET6, &syscall.SockaddrInet6{Port: port, Addr: ip.As16()}
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
		case syscall.EINTR, syscall.EALREADY: // a signal; the socket still connects
		default:
			_ = syscall.Close(fd)
			return nil, fmt.Errorf("connect: %w", err)
		}
	}
}
