// Package mcp serves commands of tare as tools of the Model Context Protocol: to one
// client, one command at a time, within limits.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tarebench/tare/cmd/tare/internal/fleet"
)

const (
	maxLine   = 1 << 20         // bytes of a message of the client
	maxOutput = 64 << 20        // bytes that a command prints
	watchTime = 5 * time.Second // between two looks at what is free
	maxText   = 4 << 10         // bytes of a text of the client
	maxTexts  = 64              // elements of a list of the client
	maxReply  = 256 << 10       // bytes of a document in a reply
)

// Server has what tools need.
type Server struct {
	Version string
	Limits  fleet.Limits
	Dir     string // working directory: files of a request are in it
	Results string // directory of all results

	Run  func(ctx context.Context, args []string, out io.Writer) error // carries out a command of tare
	Exit func(error) int                                               // exit code of that error
	Fail func(path string, err error) []byte                           // document of that error
	Free func() fleet.Free
}

// Serve serves the client at the other end of in and out until in ends or ctx does.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	err := s.newServer().Run(ctx, &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: maxLine})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// newServer makes the server with its tools.
func (s *Server) newServer() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "tare", Title: "tare: measured comparisons of Go code", Version: s.Version}, &sdk.ServerOptions{
		Instructions: "Measured ratios have intervals. A difference inside the noise or without a verdict is no difference: do not report it as one. " +
			"exit_code 0 is carried out or met, 3 not met or worse, 4 inconclusive, 5 void.",
		Capabilities: &sdk.ServerCapabilities{},
	})
	work := &worker{Server: s, free: make(chan struct{}, 1)}
	addTool(server, work, "explain", "Explain a check, study, contender, metric or word of a report.", true, explainName)
	addTool(server, work, "results", "List stored runs, or read one: verdicts, ratios with intervals, findings.", true, readResults)
	addTool(server, work, "gate_verdict", "Read the verdicts of a stored run (run), or judge a change (base): measures the benchmarks of both revisions.", false, judgeGate)
	addTool(server, work, "bench", "Compare two revisions by the module's own benchmarks: the working tree with base, unless head is given.", false, measureBench)
	addTool(server, work, "json", "Measure JSON codecs on JSON documents of the module, and a Go type of it.", false, measureJSON)
	addTool(server, work, "routes", "Measure routers on the routes of a list or an OpenAPI document.", false, measureRoutes)
	addTool(server, work, "load", "Load a server: latency quantiles, rate, errors, and what set the limit.", false, measureLoad)
	return server
}

// Reply holds the result of a tool.
type Reply struct {
	ExitCode int       `json:"exit_code" jsonschema:"0 carried out or met, 3 not met or worse, 4 inconclusive, 5 void"`
	Nothing  string    `json:"nothing,omitempty" jsonschema:"why there was nothing to measure"`
	Results  []Summary `json:"results,omitempty"`
	Runs     []Listed  `json:"runs,omitempty"`
	Document any       `json:"document,omitempty" jsonschema:"the document that the command prints with --json"`
}

// request is a command with its arguments, of a tool's input.
type request struct {
	args     []string
	measures bool // it runs code or sends requests
	read     func(exit int, document []byte) (Reply, error)
}

// worker carries out one command at a time.
type worker struct {
	*Server
	free chan struct{} // holds a token while a command is carried out
}

// addTool adds a tool. plan turns its input into a command.
func addTool[In any](server *sdk.Server, w *worker, name, description string, readOnly bool, plan func(*Server, In) (request, error)) {
	tool := &sdk.Tool{Name: name, Description: description, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: readOnly, OpenWorldHint: new(bool), DestructiveHint: new(bool)}}
	sdk.AddTool(server, tool, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Reply, error) {
		reply, err := w.carryOut(ctx, func() (request, error) { return plan(w.Server, in) })
		return nil, reply, err
	})
}

// carryOut carries out the command that plan returns. The error is an error document.
func (w *worker) carryOut(ctx context.Context, plan func() (request, error)) (reply Reply, err error) {
	path := "tare"
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the tool failed: %v", r)
		}
		if err != nil {
			err = errors.New(string(bytes.TrimSpace(w.Fail(path, err))))
		}
	}()
	order, err := plan()
	if err != nil {
		return reply, err
	}
	path = "tare " + order.args[0]
	if order.measures && !w.Limits.Commands {
		return reply, fmt.Errorf("%s runs code or sends requests; the server was started without --allow-commands", path)
	}
	select {
	case w.free <- struct{}{}:
		defer func() { <-w.free }()
	case <-ctx.Done():
		return reply, ctx.Err()
	}
	document, err := w.runCommand(ctx, order.args)
	exit := w.Exit(err)
	if exit != 0 && (exit < 3 || exit > 5) {
		return reply, err
	}
	if len(document) == 0 {
		return Reply{ExitCode: exit, Nothing: "nothing to measure"}, nil
	}
	return order.read(exit, document)
}

// runCommand carries out a command within the limits and returns what it prints.
func (w *worker) runCommand(ctx context.Context, args []string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go w.Limits.Watch(ctx, watchTime, w.Limits.Duration, w.Free, cancel)
	out := &bounded{end: cancel}
	err := w.Run(ctx, args, out)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return out.text.Bytes(), err
}

// bounded keeps what a command prints, and ends the command if that is too much.
type bounded struct {
	text bytes.Buffer
	end  context.CancelCauseFunc
}

// Write fails beyond maxOutput.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > maxOutput {
		err := fmt.Errorf("the command prints more than %d MiB", maxOutput>>20)
		b.end(err)
		return 0, err
	}
	return b.text.Write(p)
}

// readDocument replies with a document as it is, if a client can be expected to read it.
func readDocument(exit int, document []byte) (Reply, error) {
	if len(document) > maxReply {
		return Reply{}, fmt.Errorf("the document has %d kB, more than the %d kB that are sent", len(document)>>10, maxReply>>10)
	}
	reply := Reply{ExitCode: exit}
	err := json.Unmarshal(document, &reply.Document)
	return reply, err
}
