// Command protogen generates Go code from .proto files with nothing but Go: it
// compiles them itself, where others need protoc, and gives plugins the request
// that protoc would give them.
//
//	go run -C ../../tools/protogen . [flags] DIR
//
// What it writes stands in DIR, beside the sources unless -from says where those
// are. Both are relative to protogen's own folder, where -C starts it. Imports
// of google/protobuf/*.proto are built in, as are the google/api/*.proto of HTTP
// rules; others are looked for beside the sources. Its module
// is outside the workspace (GOWORK=off) and requires the version of each plugin, which
// is a tool of it, so that "go mod download" is all that protogen needs.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	j, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2)
	}
	if err := j.generate(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// job is what a command line asks for.
type job struct {
	plugins  []string // tools of this module
	from     string   // folder of the sources
	dir      string   // where what is written stands
	pkg      string   // import path of what is written; empty: the sources say it
	messages string   // import path of the code for messages, which is there already; empty: it is written too
	drop     []string // imports to leave out, with the options they define
}

func parse(args []string, stderr io.Writer) (job, error) {
	var j job
	flags := flag.NewFlagSet("protogen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: protogen [flags] DIR")
		flags.PrintDefaults()
	}
	plugins := flags.String("plugins", "protoc-gen-go", "`tools` of this module to run, with commas between them")
	drop := flags.String("drop", "", "`imports` to leave out with the options of methods, with commas between them")
	flags.StringVar(&j.from, "from", "", "`folder` of the sources; empty: DIR")
	flags.StringVar(&j.pkg, "package", "", "import `path` of what is written, of sources that do not say it themselves")
	flags.StringVar(&j.messages, "messages", "", "import `path` of code for the messages that is there already: write that for services alone")
	if err := flags.Parse(args); err != nil {
		return j, err
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return j, errors.New("not one DIR")
	}
	j.dir, j.plugins = flags.Arg(0), strings.Split(*plugins, ",")
	if j.from == "" {
		j.from = j.dir
	}
	if *drop != "" {
		j.drop = strings.Split(*drop, ",")
	}
	return j, nil
}

// generate gives every .proto file to every plugin.
func (j job) generate(ctx context.Context) error {
	request, err := j.compile(ctx)
	if err != nil {
		return err
	}
	for _, name := range j.plugins {
		response, err := run(ctx, name, request)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, f := range response.GetFile() {
			if !filepath.IsLocal(f.GetName()) {
				return fmt.Errorf("%s: %s is outside of %s", name, f.GetName(), j.dir)
			}
			path := filepath.Join(j.dir, filepath.FromSlash(f.GetName()))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// run asks one plugin.
func run(ctx context.Context, name string, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	in, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", name)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	response := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(out, response); err != nil {
		return nil, fmt.Errorf("its response: %w", err)
	}
	if response.Error != nil {
		return nil, errors.New(response.GetError())
	}
	return response, nil
}
