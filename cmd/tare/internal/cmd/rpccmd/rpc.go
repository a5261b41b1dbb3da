// Package rpccmd implements tare rpc: it measures the user's service over gRPC,
// Connect and gRPC-Gateway.
package rpccmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/grpccall"
	"github.com/tarebench/tare/cmd/tare/internal/rpcstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
)

type options struct {
	run     session.Options
	imports []string // directories of imported files
	only    []string // globs of transports; nil means all
	method  string   // regular expression; "" means all methods
	data    string   // file of messages; "" means that they are generated
	list    bool     // print the calls, measure nothing
}

// Command returns tare rpc.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "rpc FILE.proto",
		Short: "Compare gRPC, Connect and gRPC-Gateway on your own service",
		Long: `Compare transports of your own service: what a call costs the server in CPU time
and allocations, and how long a caller waits.

FILE.proto defines the service. tare generates a server for each transport with
the usual generators (protoc-gen-go, -go-grpc, -connect-go and -grpc-gateway;
protoc is not needed). Its handlers decode the request and return a message that
was made before: your own handlers would add the same cost to each transport. The
transports are grpc-go (the baseline, grpc), connect-go with its own protocol
(protocol buffers, and JSON), connect-go with gRPC, and the gateway, in front of
a grpc-go server in the same process (dial) and calling its methods (inprocess).
One load generator calls all of them; clients, TLS and networks are not measured.

Streaming methods are omitted and named. The gateway's paths are those of
google.api.http; a method without one is served at POST /package.Service/Method.
Requests and responses are generated from the descriptors, the same each time:
every field has a value, lists and maps have two. --data is a file of your own
with a JSON value for each call: the name of the method, a request and, once for
each method, its response. Before timing, each server must return the right
message for every request, and must have decoded the request that was sent.

Imports are searched in FILE's directory and in those of -I. google/protobuf,
google/api and google/rpc are built in. --list prints the calls of each
transport, and measures nothing.

The report goes to stdout. It begins with the cost of each transport compared
with gRPC, and ends with that and with the calls that failed. The result is kept
like those of tare run, as a study named rpc- and the name of the file.

Exit codes: 0 measured, whatever the verdict; 1 the measurement failed; 2 bad input or
a budget below the minimum; 130 interrupted. With --exit-code also 5 void.`,
		Example: `  tare rpc api/users.proto
  tare rpc -I . -I third_party api/users.proto --budget full
  tare rpc users.proto --method 'Users/Get' --data calls.json --only 'gateway*'
  tare rpc users.proto --list`,
		Args: cmdenv.Needs(1, "one file of protocol buffers", "name the .proto that defines your service"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			o.run.Typed = session.TypedBy(env, cmd)
			return runRPC(cmd.Context(), env, o, args[0])
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	selection := cmdenv.NewFlags("What is measured")
	selection.Set.StringArrayVarP(&o.imports, "proto-path", "I", nil, "`directory` that FILE imports from, in addition to its own; repeatable")
	selection.Set.StringVar(&o.method, "method", "", "only methods whose package.Service/Method matches `regexp`")
	selection.Set.StringVar(&o.data, "data", "", "`file` of JSON values with method, request and response; - is stdin; default: messages are generated")
	selection.Set.StringSliceVar(&o.only, "only", nil, "only gRPC and transports that match `glob`; repeatable, or several with commas")
	selection.Set.StringArrayVar(&o.run.Only.Workloads, "workload", nil, "only workloads that match `glob`; repeatable")
	selection.Set.BoolVar(&o.list, "list", false, "print the calls of each transport and measure nothing")
	selection.Set.StringVar(&o.run.Catalog, "catalog", "", "`directory` of contenders, whose versions are taken; default: the repository's, else the built-in ones")
	o.run.AddFlags(cmd, selection, session.Offer{})
	cmdenv.CompleteFlag(cmd, "only", cobra.FixedCompletions(rpcstudy.Transports(), cobra.ShellCompDirectiveNoFileComp))
}

// check validates the flags. It rejects patterns of --only that select nothing but the baseline.
func (o *options) check(cmd *cobra.Command) error {
	if err := o.run.Check(cmd); err != nil {
		return err
	}
	o.run.FitInto(rpcstudy.Quick, rpcstudy.Full)
	if err := cmdenv.CheckPatterns(lab.Only{Contenders: o.only}); err != nil {
		return err
	}
	for _, pattern := range o.only {
		if !cmdenv.Matches([]string{pattern}, rpcstudy.Transports()) {
			return cmdenv.Unknown("transport", pattern, rpcstudy.Transports(), "known: "+strings.Join(rpcstudy.Transports(), ", "))
		}
	}
	others := slices.DeleteFunc(rpcstudy.Transports(), func(id string) bool { return id == rpcstudy.Baseline })
	if len(o.only) > 0 && !cmdenv.Matches(o.only, others) {
		return cmdenv.Usage("--only "+strings.Join(o.only, ",")+" chooses nothing but grpc, which everything is compared with", "known: "+strings.Join(others, ", "))
	}
	return nil
}

func runRPC(ctx context.Context, env cmdenv.Env, o options, arg string) error {
	doc, err := readProto(ctx, env, o, arg)
	if err != nil {
		return err
	}
	for _, line := range doc.Remarks() {
		fmt.Fprintln(env.Err, "tare: "+format.Line(line, 0))
	}
	if o.list {
		return o.listCalls(env, doc)
	}
	if o.run.DryRun {
		return planTransports(env, o, doc, arg)
	}
	return measureTransports(ctx, env, o, doc)
}

type callList struct {
	Methods []rpcstudy.Call `json:"methods"`
	Notes   []string        `json:"notes"` // the lines on stderr
}

func (o options) listCalls(env cmdenv.Env, doc *rpcstudy.Document) error {
	calls, err := doc.Calls()
	if err != nil {
		return err
	}
	if o.run.Format.Name == "json" {
		return cmdenv.PrintJSON(env.Out, callList{calls, cmdenv.LegibleLines(doc.Remarks())})
	}
	_, err = io.WriteString(env.Out, rpcstudy.FormatCalls(calls))
	return err
}

const maxKnown = 10

// readProto reads the .proto file arg, the methods that --method selects, and the messages of
// --data. If the file is invalid, it prints all errors but the last, which it returns.
func readProto(ctx context.Context, env cmdenv.Env, o options, arg string) (*rpcstudy.Document, error) {
	var methods *regexp.Regexp // nil means all
	if o.method != "" {
		var err error
		if methods, err = regexp.Compile(o.method); err != nil {
			return nil, cmdenv.Usage(fmt.Sprintf("--method %q is not a regular expression: %v", o.method, err), "e.g. Users/(Get|List)")
		}
	}
	for _, dir := range o.imports {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, cmdenv.Usage(fmt.Sprintf("-I %s is not a directory", dir), "name the directory that imports are relative to")
		}
	}
	if info, err := os.Stat(arg); err != nil {
		return nil, cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", arg, cmdenv.Cause(err)), "name the .proto that defines your service")
	} else if !info.Mode().IsRegular() {
		return nil, cmdenv.Usage(arg+" is not a file", "name the .proto that defines your service")
	}
	doc, err := rpcstudy.Read(ctx, arg, o.imports, methods)
	var invalid *grpccall.SourceError
	var noMethod *rpcstudy.NoMethodError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &invalid):
		last := len(invalid.Lines) - 1
		for _, line := range invalid.Lines[:last] {
			fmt.Fprintln(env.Err, "tare: "+format.Line(line, 0))
		}
		hint := ""
		switch {
		case invalid.Missing:
			hint = "-I names the directory that imports begin in"
		case invalid.More > 0:
			hint = format.Count(invalid.More, "more error") + " not listed"
		}
		return nil, cmdenv.Usage(format.Line(invalid.Lines[last], 0), hint)
	case errors.As(err, &noMethod):
		return nil, cmdenv.Usage(noMethod.Error(), "it has "+strings.Join(noMethod.Known[:min(len(noMethod.Known), maxKnown)], ", "))
	case err != nil:
		return nil, cmdenv.UsageOf(err, "")
	}
	if o.data == "" {
		return doc, nil
	}
	name, src, err := env.ReadInput(o.data, rpcstudy.MostData, "messages", "name a file of JSON values, or - for stdin")
	if err != nil {
		return nil, err
	}
	if err := doc.Fill(name, src); err != nil {
		return nil, cmdenv.UsageOf(err, "")
	}
	return doc, nil
}
