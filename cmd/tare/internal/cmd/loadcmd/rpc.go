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

// This file prepares the calls of a load over gRPC from --proto, --data and --deadline.

// Bounds of the calls of --data.
const (
	maxCalls    = 100_000
	maxCallData = 1 << 30 // bytes of JSON
)

type grpcFlags struct {
	proto    string        // file with the method; "" means server reflection
	imports  []string      // directories in which proto finds its imports
	data     string        // or @FILE, or @- for stdin
	deadline time.Duration // deadline of each call; 0 means none
}

func (c grpcFlags) checkDeadline(changed func(string) bool) error {
	if changed("deadline") && (c.deadline < time.Millisecond || c.deadline > load.MaxDuration) {
		return cmdenv.Usage(fmt.Sprintf("--deadline %v is out of bounds", c.deadline), "1ms to 1h")
	}
	return nil
}

// readCalls returns the method at the path of target, and one call for each message of --data.
// Without --proto it asks the server for the message types.
func (o *options) readCalls(ctx context.Context, target loadstudy.Target, stdin io.Reader) (*grpccall.Method, []load.Request, error) {
	headers, err := o.source.Header(target.Auth)
	if err != nil {
		return nil, nil, err
	}
	if o.grpc.deadline > 0 {
		headers = append(headers, [2]string{"grpc-timeout", formatTimeout(o.grpc.deadline)})
	}
	method, err := o.resolveMethod(ctx, target, headers)
	if err != nil {
		return nil, nil, err
	}
	bodies, err := o.grpc.readBodies(method, stdin)
	if err != nil {
		return nil, nil, cmdenv.Usage("--data: "+oneLine(err.Error()), "JSON as protocol buffers map it; @FILE is a file of one value for each call, @- stdin")
	}
	var calls []load.Request
	for _, body := range bodies {
		calls = append(calls, load.Request{Method: "POST", Path: target.Path, Header: headers, Body: body, Stream: method.Stream()})
	}
	return method, calls, nil
}

// formatTimeout returns a deadline as gRPC sends it, in milliseconds, rounded up: "1500m" for 1.5 s.
func formatTimeout(deadline time.Duration) string {
	return fmt.Sprintf("%dm", (deadline+time.Millisecond-1)/time.Millisecond)
}

// resolveMethod returns the method at the path of target with its message types. Without --proto it
// asks the server for them, by server reflection.
func (o *options) resolveMethod(ctx context.Context, target loadstudy.Target, headers [][2]string) (*grpccall.Method, error) {
	if file := o.grpc.proto; file != "" {
		method, err := grpccall.Compile(ctx, file, o.grpc.imports, target.Path)
		if err != nil {
			return nil, cmdenv.Usage(fmt.Sprintf("--proto %s: %s", file, oneLine(err.Error())), "")
		}
		return method, nil
	}
	server := grpccall.Server{Addr: target.Addr, Host: target.Host, TLS: target.ForLoad(o.trust).TLS, Header: headers, Timeout: o.timeout}
	method, err := grpccall.Reflect(ctx, server, target.Path)
	if ctx.Err() != nil && err != nil {
		return nil, cmdenv.ErrInterrupted
	}
	if err != nil {
		return nil, &nothingError{fmt.Sprintf("cannot get the message types of %s by server reflection: %s; pass the .proto file with --proto", target.Path, oneLine(err.Error()))}
	}
	return method, nil
}

func oneLine(text string) string { return format.Line(text, 0) }

func (c grpcFlags) readBodies(m *grpccall.Method, stdin io.Reader) ([][]byte, error) {
	file, isFile := strings.CutPrefix(c.data, "@")
	var in io.Reader
	switch {
	case !isFile:
		in = strings.NewReader(c.data)
	case file == "-":
		in = stdin
	default:
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, cmdenv.Cause(err))
		}
		defer f.Close()
		in = f
	}
	src, err := cmdenv.ReadAtMost(in, maxCallData)
	if err != nil {
		return nil, err
	}
	bodies, err := m.Bodies(bytes.NewReader(src), maxCalls)
	if err == nil && len(bodies) == 0 {
		err = errors.New("no value of JSON")
	}
	return bodies, err
}

// verifyReply checks that a sampled reply is a message of the method's type.
func (l *loadRun) verifyReply(_, status int, body []byte) error {
	if status != 200 {
		return nil // the report counts the status
	}
	return l.method.Check(body)
}
