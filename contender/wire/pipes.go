package wire

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Pipes opens what TARE_WIRE names: two inherited descriptors, requests
// first ("3,4"), or a loopback socket for both directions
// ("tcp:127.0.0.1:4711") where descriptors cannot be inherited. ok is false
// where the variable is not set: the process was not started by a lab.
// Descriptors are marked close-on-exec, so that a contender's own children do
// not keep them open.
func Pipes() (in io.ReadCloser, out io.WriteCloser, ok bool, err error) {
	spec := os.Getenv(EnvWire)
	if spec == "" {
		return nil, nil, false, nil
	}
	if addr, tcp := strings.CutPrefix(spec, "tcp:"); tcp {
		conn, err := dial(addr)
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
	inFile, err := inherited(rfd, "requests")
	if err != nil {
		return nil, nil, true, err
	}
	outFile, err := inherited(wfd, "replies")
	if err != nil {
		return nil, nil, true, err
	}
	return inFile, outFile, true, nil
}

// inherited opens a descriptor that was passed to this process. One that is
// not open is left alone.
func inherited(fd int, name string) (*os.File, error) {
	if err := inheritable(fd); err != nil {
		return nil, fmt.Errorf("%s: descriptor %d (%s): %w", EnvWire, fd, name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
