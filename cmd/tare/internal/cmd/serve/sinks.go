package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/apps/ingest/spool"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/kinds"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
)

// This file forwards the events of tare serve ingest to the destinations (sinks) of --sink, such as a
// database.

// Flags and environment variables of forwarding.
const (
	flagSpool    = "spool"
	envSpool     = "TARE_SPOOL"
	envSinkToken = "TARE_SINK_TOKEN"

	spoolDir = "tare-spool" // default of --spool

	// drainTimeout limits how long events are forwarded after the service has ended.
	drainTimeout = 5 * time.Second
)

// forwarding sends the events of the ingest service to other systems. The service writes the events to
// a spool, a directory of files. Sinks, one for each destination, send them from there.
type forwarding struct {
	dir     string        // directory of the spool
	targets []sink.Target // destinations, parsed from --sink
	fsync   bool          // --fsync: events are on stable storage before they are acknowledged
	wait    bool          // --sink-wait: events are acknowledged when they are forwarded
	token   string        // TARE_SINK_TOKEN; "" if not set
}

// tokenTargets returns the sinks that get TARE_SINK_TOKEN: those that take a token and have no
// credentials in their URL.
func (f *forwarding) tokenTargets() (list []sink.Target) {
	if f.token == "" {
		return nil
	}
	for _, t := range f.targets {
		hasCredentials := t.URL.User != nil || t.Options[sink.OptionToken] != ""
		if t.Kind.Has(sink.OptionToken) && !hasCredentials {
			list = append(list, t)
		}
	}
	return list
}

// isPlaintext reports whether t sends plain text over a network, not only within this machine.
func isPlaintext(t sink.Target) bool {
	host := t.URL.Hostname()
	ip := net.ParseIP(host)
	isLoopback := host == "localhost" || ip != nil && ip.IsLoopback()
	return strings.HasPrefix(t.URL.Scheme, "http+") && !isLoopback
}

// parseForwarding parses --sink. value returns a setting, and dir is the value of --spool. If the
// service stores the events itself, it returns nil and args. Otherwise it returns args that make the
// service write to the spool.
func parseForwarding(args []string, value func(setting string) string, dir string) (*forwarding, []string, error) {
	text := value(ingestserving.SetSink)
	scheme, _, _ := strings.Cut(text, ":")
	isFlag := slices.Contains(args, "-"+ingestserving.SetSink+"="+text)
	isKnown := scheme == "tee" || slices.Contains(kinds.All().Schemes(), scheme)
	// An unknown scheme in the flag is an error of Parse below. In the environment it may be meant for
	// another program, so the service decides.
	isForwarded := text != "" && !ingest.HasSink(scheme) && (isFlag || isKnown)
	if !isForwarded {
		if dir != "" {
			return nil, nil, cmdenv.Usage(fmt.Sprintf("--%s is for a sink that events are sent on to", flagSpool), "such as --sink http+ndjson://HOST/PATH; tare serve --help lists them")
		}
		return nil, args, nil
	}
	targets, err := kinds.All().Parse(text)
	if err != nil {
		return nil, nil, cmdenv.UsageOf(err, "tare serve --help lists what --sink takes")
	}
	f := &forwarding{dir: dir, targets: targets, token: os.Getenv(envSinkToken)}
	if t := f.tokenTargets(); len(t) > 1 { // a token must not reach another system
		return nil, nil, cmdenv.Usage(fmt.Sprintf("%s is for one sink, and %d have no credentials of their own: %s and %s", envSinkToken, len(t), t[0], t[1]),
			"give each of them #token-file=PATH or a user and password in the URL")
	}
	if f.dir == "" {
		f.dir = spoolDir
	}
	isOn := func(name string) bool {
		v := value(name)
		return v != "" && v != "off" && v != "false" && v != "0"
	}
	f.fsync, f.wait = isOn(ingestserving.SetFsync), isOn(ingestserving.SetSinkWait)
	if f.wait {
		for i, t := range f.targets {
			// Senders wait, so a batch is sent immediately unless the user has set its age. Events that
			// arrive in the meantime share the next batch.
			if !t.Aged {
				f.targets[i].Limits.Age = 0
			}
		}
	}
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "-"+ingestserving.SetSink || name == "-"+flagSpool
	})
	return f, append(args, "-"+ingestserving.SetSink+"=spool:"+f.dir), nil
}

// runWith forwards events while serve runs, and the remaining events afterwards. If f is nil, it
// only runs serve.
func (f *forwarding) runWith(env cmdenv.Env, signals <-chan os.Signal, serve func() error) error {
	if f == nil {
		return serve()
	}
	s, err := f.startSinks(env)
	if err != nil {
		return err
	}
	err = serve()
	return errors.Join(err, f.drainSinks(s, signals, env.Err))
}

func (f *forwarding) startSinks(env cmdenv.Env) (*sink.Service, error) {
	if err := atomicfile.MakeDir(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the spool: %w", err)
	}
	var sinks []sink.Named
	for _, t := range f.targets {
		s, err := t.Open(sink.Settings{Token: f.token, Fsync: f.fsync, Now: env.Now})
		if err != nil {
			for _, opened := range sinks {
				err = errors.Join(err, opened.Sink.Close())
			}
			return nil, err
		}
		sinks = append(sinks, s)
	}
	for _, s := range sinks {
		fmt.Fprintf(env.Err, "tare: %s; %s\n", f.describeGuarantee(), s.Sink.Promise())
	}
	for _, t := range f.tokenTargets() {
		if isPlaintext(t) {
			fmt.Fprintf(env.Err, "tare: warning: %s is sent in plain text to %s; use https+\n", envSinkToken, t)
		}
	}
	poll := 10 * time.Millisecond // how often the spool is read
	if f.wait {                   // senders wait for the forwarding
		poll = time.Millisecond
	}
	return sink.Start(sink.Config{
		Dir: f.dir, Fsync: f.fsync, Sinks: sinks, Dead: spool.DefaultBytes, Poll: poll, Now: env.Now,
		Backoff: sink.Backoff{First: 100 * time.Millisecond, Last: 30 * time.Second},
		Log:     slog.New(slog.NewTextHandler(env.Err, nil)),
	})
}

func (f *forwarding) describeGuarantee() string {
	disk := "written to this disk, which survives a kill but not a power cut (--fsync does)"
	if f.fsync {
		disk = "on stable storage of this disk"
	}
	if f.wait {
		return "acknowledged = sent on or in the file of dead letters (202: not yet), and before that " + disk
	}
	return "acknowledged = " + disk + "; full: 503"
}

// drainSinks forwards remaining events until a signal arrives or drainTimeout passes. It prints the
// number of events that stay in the spool.
func (f *forwarding) drainSinks(s *sink.Service, signals <-chan os.Signal, w io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-signals:
			cancel()
		case <-ended:
		}
	}()
	remaining, err := s.Stop(ctx)
	if remaining > 0 {
		fmt.Fprintf(w, "tare: %s not sent on yet: stored in %s, and sent when this is started again\n", format.Count(int64(remaining), "event"), filepath.Clean(f.dir))
	}
	return err
}
