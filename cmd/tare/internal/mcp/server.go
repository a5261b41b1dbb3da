// Package mcp serves commands of tare as tools of the Model Context Protocol, to one client.
//
// A plan function (tools.go) converts the client's input to a command line. A worker runs one command at a time,
// within limits. A read function (readDocument, summary.go) converts the printed document to the reply.
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
	maxLine       = 1 << 20         // bytes of a message of the client
	maxOutput     = 64 << 20        // bytes that a command may print
	watchInterval = 5 * time.Second // time between two checks of the free memory and disk
	maxText       = 4 << 10         // bytes of a text in the client's input
	maxTexts      = 64              // elements of a list in the client's input
	maxReply      = 256 << 10       // bytes of a document in a reply
)

// Server serves the tools. All fields are required.
type Server struct {
	Version string       // version of tare
	Limits  fleet.Limits // what commands may do, and for how long
	Dir     string       // working directory; a client's files must be below it
	Results string       // directory of stored results

	Run  func(ctx context.Context, args []string, out io.Writer) error // runs a command of tare
	Exit func(error) int                                               // returns the exit code for an error of Run
	Fail func(path string, err error) []byte                           // returns the error document of a command
	Free func() fleet.Free                                             // returns the free resources of the machine
}

// Serve serves the client at in and out until in or ctx ends.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	err := s.newServer().Run(ctx, &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: maxLine})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (s *Server) newServer() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "tare", Title: "tare: measured comparisons of Go code", Version: s.Version}, &sdk.ServerOptions{
		Instructions: "Measured ratios have intervals. A difference inside the noise or without a verdict is no difference: do not report it as one. " +
			"exit_code 0 is carried out or met, 3 not met or worse, 4 inconclusive, 5 void.",
		Capabilities: &sdk.ServerCapabilities{},
	})
	work := &worker{Server: s, running: make(chan struct{}, 1)}
	addTool(server, work, "explain", "Explain a check, study, contender, metric or word of a report.", readsOnly, explainName)
	addTool(server, work, "results", "List stored runs, or read one: verdicts, ratios with intervals, findings.", readsOnly, readResults)
	addTool(server, work, "gate_verdict", "Read the verdicts of a stored run (run), or judge a change (base): measures the benchmarks of both revisions.", mayMeasure, judgeGate)
	addTool(server, work, "bench", "Compare two revisions by the module's own benchmarks: the working tree with base, unless head is given.", mayMeasure, measureBench)
	addTool(server, work, "json", "Measure JSON codecs on JSON documents of the module, and a Go type of it.", mayMeasure, measureJSON)
	addTool(server, work, "routes", "Measure routers on the routes of a list or an OpenAPI document.", mayMeasure, measureRoutes)
	addTool(server, work, "load", "Load a server: latency quantiles, rate, errors, and what set the limit.", mayMeasure, measureLoad)
	return server
}

type toolEffect int

const (
	readsOnly  toolEffect = iota
	mayMeasure            // the tool may run code or send requests
)

// Reply holds the result of a tool.
type Reply struct {
	ExitCode int       `json:"exit_code" jsonschema:"0 carried out or met, 3 not met or worse, 4 inconclusive, 5 void"`
	Nothing  string    `json:"nothing,omitempty" jsonschema:"why there was nothing to measure"`
	Results  []Summary `json:"results,omitempty"`
	Runs     []Listed  `json:"runs,omitzero"` // empty, not nil, if there are no stored runs
	Document any       `json:"document,omitempty" jsonschema:"the document that the command prints with --json"`
}

type request struct {
	args     []string                                       // name and arguments of the command
	measures bool                                           // the command runs code or sends requests
	read     func(exit int, document []byte) (Reply, error) // converts the printed document
}

type worker struct {
	*Server
	running chan struct{} // of capacity 1; it is full while a command runs
}

// addTool adds a tool to server. plan converts the client's input to a command for w.
func addTool[In any](server *sdk.Server, w *worker, name, description string, effect toolEffect, plan func(*Server, In) (request, error)) {
	tool := &sdk.Tool{
		Name:        name,
		Description: description,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:    effect == readsOnly,
			OpenWorldHint:   new(bool), // false
			DestructiveHint: new(bool), // false
		},
	}
	sdk.AddTool(server, tool, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Reply, error) {
		reply, err := w.runPlan(ctx, func() (request, error) { return plan(w.Server, in) })
		return nil, reply, err
	})
}

// runPlan runs the command of plan and converts its output. The text of an error is a JSON document.
func (w *worker) runPlan(ctx context.Context, plan func() (request, error)) (reply Reply, err error) {
	path := "tare"
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the tool failed: %v", r)
		}
		if err != nil {
			err = errors.New(string(bytes.TrimSpace(w.Fail(path, err))))
		}
	}()
	planned, err := plan()
	if err != nil {
		return reply, err
	}
	path = "tare " + planned.args[0]
	if planned.measures && !w.Limits.Commands {
		return reply, fmt.Errorf("%s runs code or sends requests; the server was started without --allow-commands", path)
	}
	select {
	case w.running <- struct{}{}:
		defer func() { <-w.running }()
	case <-ctx.Done():
		return reply, ctx.Err()
	}
	document, err := w.runCommand(ctx, planned.args)
	exit := w.Exit(err)
	isResult := exit == 0 || exit >= 3 && exit <= 5 // 3: not met, 4: inconclusive, 5: void
	if !isResult {
		return reply, err
	}
	if len(document) == 0 {
		return Reply{ExitCode: exit, Nothing: "nothing to measure"}, nil
	}
	return planned.read(exit, document)
}

func (w *worker) runCommand(ctx context.Context, args []string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go w.Limits.Watch(ctx, watchInterval, w.Limits.Duration, w.Free, cancel)
	out := &boundedBuffer{endCommand: cancel}
	err := w.Run(ctx, args, out)
	if cause := context.Cause(ctx); cause != nil { // the limit that ended the command
		err = cause
	}
	return out.text.Bytes(), err
}

type boundedBuffer struct {
	text       bytes.Buffer
	endCommand context.CancelCauseFunc
}

// Write ends the command and fails if the output exceeds maxOutput.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > maxOutput {
		err := fmt.Errorf("the command prints more than %d MiB", maxOutput>>20)
		b.endCommand(err)
		return 0, err
	}
	return b.text.Write(p)
}

// readDocument returns a reply with the complete JSON document.
func readDocument(exit int, document []byte) (Reply, error) {
	if len(document) > maxReply {
		return Reply{}, fmt.Errorf("the document has %d kB, more than the %d kB that are sent", len(document)>>10, maxReply>>10)
	}
	reply := Reply{ExitCode: exit}
	err := json.Unmarshal(document, &reply.Document)
	return reply, err
}
