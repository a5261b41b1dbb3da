// Command benchload compares package load with other load generators. In every round each of them sends
// requests to the same server, in a random order. A result is the ratio of two tools within a round. It
// compares
//
//   - requests per second of the client's processor time, with and without fixed processors;
//
//   - latencies at a fixed rate;
//
//   - the p99 latency that package load reports if the server stops for half a second, with the
//
//     p99 that theory predicts.
//
//     benchload
//
//     benchload -rounds 20 -server 'myserver -addr 127.0.0.1:$PORT'
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/load"
)

const install = `
Tools are taken from PATH. A missing tool is skipped, with a message:
  wrk      apt-get install wrk
  oha      cargo install oha --version 1.16.0 --locked
           (HTTP/3 with --features http3)
  h2load   apt-get install nghttp2-client
  ghz      go install github.com/bojand/ghz/cmd/ghz@v0.120.0
  fortio   go install fortio.org/fortio@v1.65.0
  script   apt-get install bsdutils
  taskset  apt-get install util-linux
A server is any command that listens on 127.0.0.1:$PORT and answers GET / with
200. Without -server it is a server of this program on net/http, with bodies of
each size; it is also loaded over TLS, over HTTP/2 and by gRPC calls. With -tare
and -h3, tare load is compared over HTTP/3; with -tare, also with and without a
view of its progress.
Measure on a machine that does nothing else.
`

// config has the values of the flags.
type config struct {
	servers     list
	rounds      int
	each        time.Duration
	connections numbers
	bodies      numbers // body sizes of answers, in bytes
	rate        float64
	seed        uint64
	skipStop    bool
	tare        string // path of the tare binary; "" if it is not compared
	h3          string // command of an HTTP/3 server; "" for none
	ways        list   // protocol setups to compare; empty means all
}

// list is a flag that may be given more than once.
type list []string

func (l *list) String() string     { return fmt.Sprint(*l) }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// numbers is a flag of numbers above 0 that may be given more than once.
type numbers []int

func (l *numbers) String() string { return fmt.Sprint(*l) }

func (l *numbers) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err == nil && n < 1 {
		err = errors.New("at least 1")
	}
	*l = append(*l, n)
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runCommand(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchload:", err)
		os.Exit(1)
	}
}

// runCommand runs the program. benchload also starts itself as a server or a client: the first argument is
// then serve, drive or exchange.
func runCommand(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "serve" {
		return runServer(args[1:], stdin)
	}
	if len(args) > 0 && args[0] == "drive" {
		return runLoad(ctx, args[1:], stdout)
	}
	if len(args) > 0 && args[0] == "exchange" {
		return runExchange(args[1:], stdout)
	}
	c, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := &bench{config: c, self: self, out: stdout, rng: rand.New(rand.NewPCG(c.seed, 4))}
	dir, err := os.MkdirTemp("", "benchload-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := b.findTools(dir); err != nil {
		return err
	}
	gauge := machine.StartGauge()
	for _, command := range c.servers {
		if err := b.compareWith(ctx, command); err != nil {
			return err
		}
	}
	noise := gauge.Stop()
	fmt.Fprintf(stdout, "\nNoise: something waited for a processor for %.0f %% of the time (the clients and servers themselves included); seed %d.\n",
		100*noise.CPUPressure, c.seed)
	return nil
}

func parseFlags(args []string, stderr io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("benchload", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Var(&c.servers, "server", "command of a server that listens on 127.0.0.1:$PORT; may be given more than once; none: one of its own")
	flags.IntVar(&c.rounds, "rounds", 10, "rounds; at least 6, for an interval")
	flags.DurationVar(&c.each, "each", 3*time.Second, "duration of each tool's run in a round, in full seconds")
	flags.Var(&c.connections, "connections", "number of open connections; may be given more than once; default: 50 and 1000")
	flags.Var(&c.bodies, "body", "bytes of an answer's body; may be given more than once; default: 100 and 16384")
	flags.Float64Var(&c.rate, "rate", 10000, "requests per second for the comparison of latencies")
	flags.Uint64Var(&c.seed, "seed", 1, "seed of the random order of tools within rounds")
	flags.StringVar(&c.tare, "tare", "", "binary of tare, for the comparisons over HTTP/3 and of views")
	flags.StringVar(&c.h3, "h3", "", "command of a server of HTTP/3 on UDP 127.0.0.1:$PORT, and of HTTPS on the same port of TCP, with bodies of $BODY bytes")
	flags.Var(&c.ways, "way", "only this way, of "+strings.Join(ways(), ", ")+"; may be given more than once")
	flags.BoolVar(&c.skipStop, "nostop", false, "skip the comparison with a stopped server")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: benchload [flags]")
		flags.PrintDefaults()
		fmt.Fprint(stderr, install)
	}
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	switch {
	case flags.NArg() > 0:
		return c, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case c.rounds < 6:
		return c, fmt.Errorf("%d rounds are too few for an interval: at least 6", c.rounds)
	case c.each < time.Second || c.each%time.Second != 0:
		return c, fmt.Errorf("-each %v: want full seconds", c.each)
	}
	for _, way := range c.ways {
		if !slices.Contains(ways(), way) {
			return c, fmt.Errorf("unknown -way %q: want one of %s", way, strings.Join(ways(), ", "))
		}
	}
	if len(c.servers) == 0 {
		c.servers = list{""}
	}
	if len(c.connections) == 0 {
		c.connections = numbers{50, 1000}
	}
	if len(c.bodies) == 0 {
		c.bodies = numbers{100, 16 << 10}
	}
	return c, nil
}

// findTools sets the tools to compare, and prints which are missing. Files for the tools are in dir.
func (b *bench) findTools(dir string) error {
	fmt.Fprintf(b.out, "%d processors, %s/%s, %d rounds of %v each\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, b.rounds, b.each)
	proto := filepath.Join(dir, "health.proto")
	if err := os.WriteFile(proto, []byte(healthProto), 0o600); err != nil {
		return err
	}
	for _, engine := range []load.Engine{load.Epoll, load.Portable} {
		if engine == load.Portable && len(b.tools) > 0 {
			break // the portable engine is only for systems without epoll
		}
		// Open fails if this system does not have the engine. It does not connect yet.
		s, err := load.Open(load.Options{Target: load.Target{Addr: "127.0.0.1:1"}, Requests: []load.Request{{Method: "GET"}}, Engine: engine})
		if err != nil {
			b.reportMissing(string(engine), err.Error())
			continue
		}
		s.Close()
		b.tools = append(b.tools, packageLoad{engine})
	}
	if runtime.GOOS == "linux" {
		b.tools = append(b.tools, bareExchange{})
	}
	for _, t := range []tool{wrk{}, oha{h3: b.h3 != "" && supportsOption("oha", "--http-version", "3")}, h2load{}, ghz{proto}, fortio{}} {
		if _, err := exec.LookPath(t.program()); err != nil {
			b.reportMissing(t.name(), "not in PATH; --help shows how to install it")
			continue
		}
		b.tools = append(b.tools, t)
	}
	if b.tare == "" {
		b.reportMissing("tare", "there is no -tare")
	} else {
		q := tareQuiet{b.tare}
		b.tools = append(b.tools, q)
		if _, err := exec.LookPath("script"); err != nil {
			b.reportMissing("tare, live view", "script is not in PATH")
		} else {
			b.tools = append(b.tools, tareLive{q, filepath.Join(dir, "load.json")})
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		l.Close()
		b.tools = append(b.tools, tareWatched{q, l.Addr().String()})
	}
	if _, err := exec.LookPath("taskset"); err != nil {
		b.reportMissing("pinned", "taskset is not in PATH")
	} else if runtime.NumCPU() < 2 {
		b.reportMissing("pinned", "there is one processor")
	} else {
		b.pins = true
	}
	return nil
}

// supportsOption reports whether a tool was built with an option. Nothing listens at its target, so only
// its message matters.
func supportsOption(tool string, option ...string) bool {
	out, _ := exec.Command(tool, append(option, "-n", "1", "--no-tui", "https://127.0.0.1:1/")...).CombinedOutput()
	return !bytes.Contains(out, []byte("has not been built with"))
}

func (b *bench) reportMissing(what, why string) { fmt.Fprintf(b.out, "skipped %s: %s\n", what, why) }
