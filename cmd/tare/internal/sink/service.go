package sink

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	randv2 "math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
)

// Config configures a service.
type Config struct {
	Dir     string // directory of the spool
	Fsync   bool   // sync cursors: a power cut takes the sinks back by at most one batch
	Sinks   []Named
	Dead    int64         // largest size in bytes of each file of dead letters
	Poll    time.Duration // see Forward.Poll
	Backoff Backoff
	Log     *slog.Logger
	Now     func() time.Time
}

// Named is a sink with its name.
type Named struct {
	Name   string
	Limits Limits
	Sink   Sink
	Trust  bool // a rejected event is dead, even if the sink accepts no others
}

// Service sends the events of a spool until it is stopped.
type Service struct {
	config  Config
	readers *spool.Readers
	dead    []*DeadLetters
	cancel  context.CancelFunc // ends all goroutines
	drained chan struct{}      // closed when no more events will be written to the spool
	running sync.WaitGroup     // one goroutine per sink
}

// Start starts to send. Stop closes the sinks; if Start fails, it closes them itself.
func Start(c Config) (*Service, error) {
	s := &Service{config: c, drained: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	if err := s.startAll(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// startAll opens the readers of the spool and the dead letters, and starts one Forward per sink.
func (s *Service) startAll(ctx context.Context) (err error) {
	c := s.config
	var names []string
	for _, one := range c.Sinks {
		names = append(names, one.Name)
	}
	if s.readers, err = spool.OpenReaders(c.Dir, names, c.Fsync, func(d spool.Damage) {
		c.Log.Error("the spool is damaged", "what", d.String(), "lost", d.Lost)
	}); err != nil {
		return err
	}
	var list []*Forward
	for i, one := range c.Sinks {
		dead, err := OpenDeadLetters(filepath.Join(c.Dir, one.Name+".dead.ndjson"), c.Dead, c.Now)
		if err != nil {
			return fmt.Errorf("open dead letters: %w", err)
		}
		s.dead = append(s.dead, dead)
		var seed [16]byte
		if _, err := rand.Read(seed[:]); err != nil {
			return err
		}
		random := randv2.New(randv2.NewPCG(binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:])))
		list = append(list, &Forward{
			Name: one.Name, Reader: s.readers.All()[i], Readers: s.readers, Sink: one.Sink, Trust: one.Trust, Dead: dead,
			Limits: one.Limits, Backoff: c.Backoff, Poll: c.Poll, Log: c.Log, Random: random,
		})
	}
	for _, f := range list {
		s.running.Go(func() { _ = f.Run(ctx, s.drained) })
	}
	return nil
}

// Stop sends the remaining events of the spool until ctx ends, and closes the sinks. left is the number
// of events that the slowest sink has not sent; they stay in the spool. Writers to the spool must have
// ended before.
func (s *Service) Stop(ctx context.Context) (left uint64, err error) {
	close(s.drained)
	defer context.AfterFunc(ctx, s.cancel)()
	s.running.Wait()
	left, err = s.readers.Left()
	return left, errors.Join(err, s.close())
}

func (s *Service) close() error {
	s.cancel()
	var errs []error
	for _, one := range s.config.Sinks {
		errs = append(errs, one.Sink.Close())
	}
	for _, one := range s.dead {
		errs = append(errs, one.Close())
	}
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	return errors.Join(errs...)
}
