package wire

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Pipes opens the pipes that TARE_WIRE names: two inherited descriptors, requests
// first ("3,4"), or a loopback socket for both directions
// ("tcp:127.0.0.1:4711") if descriptors cannot be inherited. ok is false
// if the variable is not set: the process was not started by a lab.
// Descriptors are marked close-on-exec, so that a contender's own children do
// not keep them open.
func Pipes() (in io.ReadCloser, out io.WriteCloser, ok bool, err error) {
	spec := os.Getenv(EnvWire)
	if spec == "" {
		return nil, nil, false, nil
	}
	if addr, tcp := strings.CutPrefix(spec, "tcp:"); tcp {
		conn, err := dialLoopback(addr)
		if err != nil {
			return nil, nil, true, fmt.Errorf("%s=%s: %w", EnvWire, spec, err)
		}
		return conn, conn, true, nil
	}
	r, w, comma := strings.Cut(spec, ",")
	rfd, rerr := strconv.Atoi(r)
	wfd, werr := strconv.Atoi(w)
	if !comma || rerr != nil || werr != nil || rfd < 3 || wfd < 3 || rfd == wfd {
		return nil, nil, true, fmt.Errorf(`%s=%s: want two descriptors from 3 up, e.g. "3,4", or tcp:host:port`, EnvWire, spec)
	}
	inFile, err := openInherited(rfd, "requests")
	if err != nil {
		return nil, nil, true, err
	}
	outFile, err := openInherited(wfd, "replies")
	if err != nil {
		return nil, nil, true, err
	}
	return inFile, outFile, true, nil
}

// openInherited opens a descriptor that was passed to this process. It does not touch one that is not open.
func openInherited(fd int, name string) (*os.File, error) {
	if err := checkInheritable(fd); err != nil {
		return nil, fmt.Errorf("%s: descriptor %d (%s): %w", EnvWire, fd, name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
