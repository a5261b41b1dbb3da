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
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/whole"
)

const (
	flagSpool    = "spool"
	envSpool     = "TARE_SPOOL"
	envSinkToken = "TARE_SINK_TOKEN"

	spoolDir = "tare-spool" // where none is named

	// draining is how long events are sent on after the service has ended.
	draining = 5 * time.Second
)

// forwarding is where the events of a service go on.
type forwarding struct {
	dir     string
	targets []sink.Target
	fsync   bool
	wait    bool
	token   string // TARE_SINK_TOKEN
}

// tokened are the sinks that TARE_SINK_TOKEN is sent to.
func (f *forwarding) tokened() (list []sink.Target) {
	for _, t := range f.targets {
		if f.token != "" && t.Kind.Has(sink.OptionToken) && t.URL.User == nil && t.Options[sink.OptionToken] == "" {
			list = append(list, t)
		}
	}
	return list
}

// readable reports whether those between here and the sink can read what is sent.
func readable(t sink.Target) bool {
	host := t.URL.Hostname()
	ip := net.ParseIP(host)
	return strings.HasPrefix(t.URL.Scheme, "http+") && host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// forwarded reads where events of the ingest service go on; nil: the service
// itself keeps them. What it is given then keeps them in the spool.
func forwarded(args []string, value func(setting string) string, dir string) (*forwarding, []string, error) {
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
		return nil, nil, cmdenv.Usage(err.Error(), "tare serve --help lists what --sink takes")
	}
	f := &forwarding{dir: dir, targets: targets, token: os.Getenv(envSinkToken)}
	if tokened := f.tokened(); len(tokened) > 1 {
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
			f.targets[i].Limits.Age = 0 // senders wait: what is there goes, and what comes meanwhile goes together
		}
	}
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "-"+ingestserving.SetSink || name == "-"+flagSpool
	})
	return f, append(args, "-"+ingestserving.SetSink+"=spool:"+f.dir), nil
}

// during sends events on while serve runs, and then what is left.
func (f *forwarding) during(env cmdenv.Env, signals <-chan os.Signal, serve func() error) error {
	if f == nil {
		return serve()
	}
	s, err := f.start(env)
	if err != nil {
		return err
	}
	err = serve()
	return errors.Join(err, f.finish(s, signals, env.Err))
}

// start opens the spool's readers and the sinks, and says what they promise.
func (f *forwarding) start(env cmdenv.Env) (*sink.Service, error) {
	if err := whole.MakeDir(f.dir, 0o700); err != nil {
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
		fmt.Fprintf(env.Err, "tare: %s; %s\n", f.acknowledged(), one.Sink.Promise())
	}
	for _, t := range f.tokened() {
		if readable(t) {
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

// acknowledged is what it means to a sender that its events were accepted.
func (f *forwarding) acknowledged() string {
	disk := "written to this disk, which survives a kill but not a power cut (--fsync does)"
	if f.fsync {
		disk = "on stable storage of this disk"
	}
	if f.wait {
		return "acknowledged = sent on or in the file of dead letters (202: not yet), and before that " + disk
	}
	return "acknowledged = " + disk + "; full: 503"
}

// finish sends what is left, until a signal comes or for so long, and says what
// stays in the spool.
func (f *forwarding) finish(s *sink.Service, signals <-chan os.Signal, w io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), draining)
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
