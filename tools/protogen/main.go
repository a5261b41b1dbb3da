// Command protogen generates Go code from .proto files with nothing but Go: it
// compiles them without protoc, and gives plugins the same request
// as protoc.
//
//	go run -C ../../tools/protogen . [flags] DIR
//
// It reads the sources in DIR, or in the directory that -from names, and writes the code
// to DIR. Both are relative to protogen's directory, where -C starts it. Imports of
// google/protobuf/*.proto and of the google/api/*.proto of HTTP rules are built in; other
// imports must be next to the sources.
//
// The module of protogen is outside the workspace (GOWORK=off). The plugins are tools of
// this module, which requires a version of each, so that "go mod download" is all that
// protogen needs.
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
	j, err := parseFlags(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2)
	}
	if err := j.generate(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// job holds the options of a command line.
type job struct {
	plugins  []string // names of code generators, which are tools of this module
	from     string   // folder of the sources
	dir      string   // output folder
	pkg      string   // import path of the output; "" if the sources name it
	messages string   // import path of existing code for messages; "" means generate it
	drop     []string // imports to remove, with the options of methods that they define
}

// parseFlags returns the job of a command line.
func parseFlags(args []string, stderr io.Writer) (job, error) {
	var j job
	flags := flag.NewFlagSet("protogen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: protogen [flags] DIR")
		flags.PrintDefaults()
	}
	plugins := flags.String("plugins", "protoc-gen-go", "`tools` of this module to run, with commas between them")
	drop := flags.String("drop", "", "`imports` to leave out with the options of methods, with commas between them")
	flags.StringVar(&j.from, "from", "", "`folder` of the sources; default: DIR")
	flags.StringVar(&j.pkg, "package", "", "import `path` of the generated code, if the sources do not name it")
	flags.StringVar(&j.messages, "messages", "", "import `path` of existing code for the messages: generate only code for the services")
	if err := flags.Parse(args); err != nil {
		return j, err
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return j, errors.New("want one argument, DIR")
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

// generate runs every plugin on all .proto files.
func (j job) generate(ctx context.Context) error {
	request, err := j.compileSources(ctx)
	if err != nil {
		return err
	}
	for _, name := range j.plugins {
		response, err := runPlugin(ctx, name, request)
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

// runPlugin runs the plugin name with the request and returns its response.
func runPlugin(ctx context.Context, name string, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
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
