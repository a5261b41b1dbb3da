package wire

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// minFD is the first descriptor after standard input, output and error.
const minFD = 3

// Pipes opens a contender's connection to the lab, the measuring process that started it. Environment variable
// TARE_WIRE names the connection: two inherited descriptors, requests first ("3,4"), or a
// loopback socket for both directions ("tcp:127.0.0.1:4711") on systems where descriptors
// cannot be inherited. ok is false if the variable is not set, because no lab started the
// process. Pipes marks descriptors close-on-exec: child processes do not inherit them.
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

// openInherited opens a descriptor that was passed to this process. It returns an error if fd is not open.
func openInherited(fd int, name string) (*os.File, error) {
	if err := checkInheritable(fd); err != nil {
		return nil, fmt.Errorf("%s: descriptor %d (%s): %w", EnvWire, fd, name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
