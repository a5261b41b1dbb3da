package machine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/tarebench/tare/internal/format"
)

// hostSocket returns the address of a lock: an abstract socket, which has no file. So it has no owner,
// needs no directory, and is free when its process ends. Each network namespace has separate ones.
func hostSocket(name string) *net.UnixAddr {
	return &net.UnixAddr{Net: "unix", Name: "@tare-" + name}
}

func tryLockHost(name string) (func(), error) {
	l, err := net.ListenUnix("unix", hostSocket(name))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, errLocked
	case err != nil:
		return nil, err
	}
	return func() { _ = l.Close() }, nil
}

// hostHolder describes the process that listens at the lock's address. The kernel returns its pid for
// a connection, which the process need not accept.
func hostHolder(name string) string {
	c, err := net.DialUnix("unix", nil, hostSocket(name))
	if err != nil {
		return unknownHolder
	}
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return unknownHolder
	}
	var peer *syscall.Ucred
	_ = raw.Control(func(fd uintptr) { peer, _ = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED) })
	if peer == nil || peer.Pid == 0 { // 0 is a process of another pid namespace
		return unknownHolder
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", peer.Pid))
	if err != nil {
		return fmt.Sprintf("pid %d", peer.Pid)
	}
	return fmt.Sprintf("pid %d: %s", peer.Pid, format.Line(commandLine(strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")), 0))
}
