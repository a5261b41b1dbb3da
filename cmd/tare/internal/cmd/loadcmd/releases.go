package loadcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/build"
)

// goProgram is the command of --start if --go is set: a go run, possibly after env NAME=value. tare
// builds its program with several Go releases. For example:
//
//	env DEBUG=1  go run  -tags=x  ./cmd/api  -port $PORT
//	env                  flags    packages   args
type goProgram struct {
	env      []string // words before go; nil if there are none
	flags    []string // flags of the build
	packages []string // one package, or Go files
	args     []string // arguments of the program
}

// parseGoRun splits a command into the parts of a go run. It returns false for other commands. A flag
// and its value must be one word: -tags=x.
func parseGoRun(command []string) (p goProgram, ok bool) {
	goCommand := command
	if filepath.Base(command[0]) == "env" {
		n := 1 + countFirst(command[1:], isAssignment)
		p.env, goCommand = command[:n], command[n:]
	}
	if len(goCommand) < 3 || filepath.Base(goCommand[0]) != "go" || goCommand[1] != "run" {
		return p, false
	}
	words := goCommand[2:]
	numFlags := countFirst(words, isFlag)
	p.flags, words = words[:numFlags], words[numFlags:]
	if len(words) == 0 {
		return p, false
	}
	numPackages := max(1, countFirst(words, isGoFile)) // without files, the first word is a package
	p.packages, p.args = words[:numPackages], words[numPackages:]
	return p, true
}

// countFirst returns the number of words before the first one that does not match.
func countFirst(words []string, matches func(word string) bool) int {
	for i, word := range words {
		if !matches(word) {
			return i
		}
	}
	return len(words)
}

func isAssignment(word string) bool { return strings.Contains(word, "=") }
func isFlag(word string) bool       { return strings.HasPrefix(word, "-") }
func isGoFile(word string) bool     { return strings.HasSuffix(word, ".go") }

// splitReleases replaces the server of the only --start by one server for each release of --go. It
// also returns the program of the command line, which buildReleases builds.
func (o *options) splitReleases() ([]loadServer, goProgram, error) {
	if err := o.releases.Check(o.on); err != nil {
		return nil, goProgram{}, err
	}
	const hint = "e.g. --go go1.26,go1.27 --start 'go run ./cmd/api -port $PORT' /path"
	if len(o.start) != 1 || len(o.servers) != 1 {
		return nil, goProgram{}, cmdenv.Usage("--go builds the program of one --start, and compares nothing else", hint)
	}
	server := o.servers[0]
	program, ok := parseGoRun(server.command)
	if !ok {
		return nil, goProgram{}, cmdenv.Usage("--go builds the program of a --start that is go run", hint)
	}
	if !strings.Contains(server.url, portVariable) {
		return nil, goProgram{}, cmdenv.Usage(fmt.Sprintf("--go starts a server of each release, and %s is one address", server.url), "write $PORT in --start, and a path: "+hint)
	}
	var servers []loadServer
	for _, name := range o.releases.Names() {
		server.id = name
		servers = append(servers, server)
	}
	return servers, program, nil
}

// buildReleases builds the program with each toolchain, into directories below dir. It returns the
// command lines that start the binaries.
func (p goProgram) buildReleases(ctx context.Context, w *session.Session, toolchains []string, dir string) ([][]string, error) {
	var commands [][]string
	for _, toolchain := range toolchains {
		w.Progress.Status("build", "building "+strings.Join(p.packages, " ")+" with "+toolchain)
		path, err := p.buildWith(ctx, w.RunTag, toolchain, filepath.Join(dir, toolchain))
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, build.ErrNoToolchain):
			return nil, err
		case err != nil:
			return nil, session.ToolchainError(toolchain, err)
		}
		commands = append(commands, slices.Concat(p.env, []string{path}, p.args))
	}
	return commands, nil
}

// buildWith builds the program with a toolchain into dir, and returns the path of the binary. Like
// go run, it resolves packages from the working directory.
func (p goProgram) buildWith(ctx context.Context, tag, toolchain, dir string) (string, error) {
	work, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	environment := build.ToolchainEnv(toolchain)
	if len(p.env) > 0 {
		environment = append(slices.Clone(p.env[1:]), environment...) // p.env[0] is the command env
	}
	g := gocmd.Go{Tag: tag, Env: environment, Timeout: build.DefaultTimeout}
	output := dir + string(filepath.Separator) // a directory, so that the binary has the name of the program
	_, err = g.AsUser(ctx, work, slices.Concat([]string{"build", "-o", output}, p.flags, p.packages)...)
	if err != nil && !strings.Contains(err.Error(), "no main packages to build") { // reported below
		return "", err
	}
	binaries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(binaries) != 1 {
		return "", fmt.Errorf("%s is not a program", strings.Join(p.packages, " "))
	}
	return filepath.Join(dir, binaries[0].Name()), nil
}
