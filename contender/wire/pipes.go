package wire

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

const minFD = 3

// Pipes opens the connection to the process that measures this one, as TARE_WIRE names it. "3,4" is two
// inherited descriptors, requests first. "tcp:127.0.0.1:4711" is a loopback socket, for systems on which
// descriptors cannot be inherited.
//
// ok is false without TARE_WIRE. Child processes do not inherit the descriptors.
func Pipes() (in io.ReadCloser, out io.WriteCloser, ok bool, err error) {
	spec := os.Getenv(EnvWire)
	if spec == "" {
		return nil, nil, false, nil
	}
	if addr, isTCP := strings.CutPrefix(spec, "tcp:"); isTCP {
		conn, err := dialLoopback(addr)
		if err != nil {
			return nil, nil, true, fmt.Errorf("%s=%s: %w", EnvWire, spec, err)
		}
		return conn, conn, true, nil
	}
	inText, outText, hasComma := strings.Cut(spec, ",")
	inFD, inErr := strconv.Atoi(inText)
	outFD, outErr := strconv.Atoi(outText)
	areNumbers := hasComma && inErr == nil && outErr == nil
	if !areNumbers || inFD < minFD || outFD < minFD || inFD == outFD {
		return nil, nil, true, fmt.Errorf(`%s=%s: want two descriptors from 3 up, e.g. "3,4", or tcp:host:port`, EnvWire, spec)
	}
	inFile, err := openInherited(inFD, "requests")
	if err != nil {
		return nil, nil, true, err
	}
	outFile, err := openInherited(outFD, "replies")
	if err != nil {
		return nil, nil, true, err
	}
	return inFile, outFile, true, nil
}

func openInherited(fd int, name string) (*os.File, error) {
	if err := checkInheritable(fd); err != nil {
		return nil, fmt.Errorf("%s: descriptor %d (%s): %w", EnvWire, fd, name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
