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

const (
	flagSpool    = "spool"
	envSpool     = "TARE_SPOOL"
	envSinkToken = "TARE_SINK_TOKEN"

	spoolDir = "tare-spool" // the default

	// drainTimeout limits how long events are forwarded after the service has ended.
	drainTimeout = 5 * time.Second
)

// forwarding holds the sinks for the events of a service.
type forwarding struct {
	dir     string
	targets []sink.Target
	fsync   bool
	wait    bool
	token   string // TARE_SINK_TOKEN
}

// tokenTargets returns the sinks that get TARE_SINK_TOKEN.
func (f *forwarding) tokenTargets() (list []sink.Target) {
	for _, t := range f.targets {
		if f.token != "" && t.Kind.Has(sink.OptionToken) && t.URL.User == nil && t.Options[sink.OptionToken] == "" {
			list = append(list, t)
		}
	}
	return list
}

// isPlaintext reports whether t sends plain text over a network.
func isPlaintext(t sink.Target) bool {
	host := t.URL.Hostname()
	ip := net.ParseIP(host)
	return strings.HasPrefix(t.URL.Scheme, "http+") && host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// parseForwarding parses the sinks of the ingest service; nil means that the service stores the
// events itself. The returned args make the service write to the spool.
func parseForwarding(args []string, value func(setting string) string, dir string) (*forwarding, []string, error) {
	text := value(ingestserving.SetSink)
	scheme, _, _ := strings.Cut(text, ":")
	flagged := slices.Contains(args, "-"+ingestserving.SetSink+"="+text)
	if text == "" || ingest.HasSink(scheme) || !flagged && scheme != "tee" && !slices.Contains(kinds.All().Schemes(), scheme) {
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
	if tokened := f.tokenTargets(); len(tokened) > 1 {
		return nil, nil, cmdenv.Usage(fmt.Sprintf("%s is for one sink, and %d have no credentials of their own: %s and %s", envSinkToken, len(tokened), tokened[0], tokened[1]),
			"give each of them #token-file=PATH or a user and password in the URL")
	}
	if f.dir == "" {
		f.dir = spoolDir
	}
	on := func(name string) bool {
		v := value(name)
		return v != "" && v != "off" && v != "false" && v != "0"
	}
	f.fsync, f.wait = on(ingestserving.SetFsync), on(ingestserving.SetSinkWait)
	for i, t := range f.targets {
		if f.wait && !t.Aged {
			f.targets[i].Limits.Age = 0 // senders wait, so send batches at once; events that arrive meanwhile share the next batch
		}
	}
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "-"+ingestserving.SetSink || name == "-"+flagSpool
	})
	return f, append(args, "-"+ingestserving.SetSink+"=spool:"+f.dir), nil
}

// runWith forwards events while serve runs, and then the rest. A nil f only runs serve.
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

// startSinks opens the spool and the sinks, and prints their guarantees.
func (f *forwarding) startSinks(env cmdenv.Env) (*sink.Service, error) {
	if err := atomicfile.MakeDir(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the spool: %w", err)
	}
	var list []sink.Named
	for _, t := range f.targets {
		one, err := t.Open(sink.Settings{Token: f.token, Fsync: f.fsync, Now: env.Now})
		if err != nil {
			for _, opened := range list {
				err = errors.Join(err, opened.Sink.Close())
			}
			return nil, err
		}
		list = append(list, one)
	}
	for _, one := range list {
		fmt.Fprintf(env.Err, "tare: %s; %s\n", f.describeGuarantee(), one.Sink.Promise())
	}
	for _, t := range f.tokenTargets() {
		if isPlaintext(t) {
			fmt.Fprintf(env.Err, "tare: warning: %s is sent in plain text to %s; use https+\n", envSinkToken, t)
		}
	}
	poll := 10 * time.Millisecond
	if f.wait {
		poll = time.Millisecond
	}
	return sink.Start(sink.Config{
		Dir: f.dir, Fsync: f.fsync, Sinks: list, Dead: spool.DefaultBytes, Poll: poll, Now: env.Now,
		Backoff: sink.Backoff{First: 100 * time.Millisecond, Last: 30 * time.Second},
		Log:     slog.New(slog.NewTextHandler(env.Err, nil)),
	})
}

// describeGuarantee returns the meaning of an acknowledgement for a sender.
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

// drainSinks forwards remaining events until a signal arrives or drainTimeout passes, and
// prints how many stay in the spool.
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
	left, err := s.Stop(ctx)
	if left > 0 {
		fmt.Fprintf(w, "tare: %s not sent on yet: kept in %s, and sent when this is started again\n", format.Count(int64(left), "event"), filepath.Clean(f.dir))
	}
	return err
}
