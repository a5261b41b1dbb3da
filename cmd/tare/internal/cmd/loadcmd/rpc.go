package loadcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/grpccall"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// Bounds of the calls of --data.
const (
	maxCalls    = 100_000
	maxCallData = 1 << 30 // bytes of JSON
)

// grpcFlags holds the flags of gRPC calls.
type grpcFlags struct {
	proto    string
	imports  []string
	data     string
	deadline time.Duration
}

// checkDeadline rejects a deadline that is out of bounds.
func (c grpcFlags) checkDeadline(changed func(string) bool) error {
	if changed("deadline") && (c.deadline < time.Millisecond || c.deadline > load.MaxDuration) {
		return cmdenv.Usage(fmt.Sprintf("--deadline %v is out of bounds", c.deadline), "1ms to 1h")
	}
	return nil
}

// readCalls returns the calls to a gRPC server, one for each message of --data, in the order in which
// they are sent. It sets l.method. The message types are from --proto or, without it, from the server.
func (l *loadRun) readCalls(ctx context.Context, t loadstudy.Target, stdin io.Reader) ([]load.Request, error) {
	c := l.o.grpc
	headers, err := l.o.source.Header(t.Auth)
	if err != nil {
		return nil, err
	}
	if c.deadline > 0 { // in milliseconds, rounded up
		headers = append(headers, [2]string{"grpc-timeout", fmt.Sprintf("%dm", (c.deadline+time.Millisecond-1)/time.Millisecond)})
	}
	if c.proto != "" {
		if l.method, err = grpccall.Compile(ctx, c.proto, c.imports, t.Path); err != nil {
			return nil, cmdenv.Usage(fmt.Sprintf("--proto %s: %s", c.proto, format.Line(err.Error(), 0)), "")
		}
	} else {
		s := grpccall.Server{Addr: t.Addr, Host: t.Host, TLS: t.ForLoad(l.o.trust).TLS, Header: headers, Timeout: l.o.timeout}
		if l.method, err = grpccall.Reflect(ctx, s, t.Path); err != nil {
			if ctx.Err() != nil {
				return nil, cmdenv.ErrInterrupted
			}
			return nil, &nothingError{fmt.Sprintf("what %s takes cannot be asked of the server: %s; --proto names the file that says so", t.Path, format.Line(err.Error(), 0))}
		}
	}
	bodies, err := c.readBodies(l.method, stdin)
	if err != nil {
		return nil, cmdenv.Usage("--data: "+format.Line(err.Error(), 0), "JSON as protocol buffers map it; @FILE is a file of one value for each call, @- stdin")
	}
	var list []load.Request
	for _, body := range bodies {
		list = append(list, load.Request{Method: "POST", Path: t.Path, Header: headers, Body: body, Stream: l.method.Stream()})
	}
	return list, nil
}

// readBodies reads the JSON of --data and returns the encoded messages of each call.
func (c grpcFlags) readBodies(m *grpccall.Method, stdin io.Reader) ([][]byte, error) {
	file, isFile := strings.CutPrefix(c.data, "@")
	var r io.Reader = strings.NewReader(c.data)
	if isFile && file == "-" {
		r = stdin
	} else if isFile {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, cmdenv.Cause(err))
		}
		defer f.Close()
		r = f
	}
	src, err := cmdenv.ReadAtMost(r, maxCallData)
	if err != nil {
		return nil, err
	}
	list, err := m.Bodies(bytes.NewReader(src), maxCalls)
	if err == nil && len(list) == 0 {
		err = errors.New("no value of JSON")
	}
	return list, err
}

// verifyReply checks that a sampled reply with status 200 is a message of the method's type.
func (l *loadRun) verifyReply(_, status int, body []byte) error {
	if status != 200 {
		return nil
	}
	return l.method.Check(body)
}
