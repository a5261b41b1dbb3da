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

// Named is a sink with its name.
type Named struct {
	Name   string
	Limits Limits
	Sink   Sink
	Trust  bool // a rejected event is dead, even if no other is accepted
}

// Config configures a service.
type Config struct {
	Dir     string // directory of the spool
	Fsync   bool   // sync the cursors: a power cut repeats at most one batch
	Sinks   []Named
	Dead    int64         // largest size of each file of dead letters, in bytes
	Poll    time.Duration // see Forward.Poll
	Backoff Backoff
	Log     *slog.Logger
	Now     func() time.Time
}

// Service sends the events of a spool until it is stopped.
type Service struct {
	config  Config
	readers *spool.Readers
	dead    []*DeadLetters // rejected events, one file per sink
	cancel  context.CancelFunc
	drained chan struct{} // no more events will be written to the spool
	running sync.WaitGroup
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

func (s *Service) startAll(ctx context.Context) (err error) {
	c := s.config
	var names []string
	for _, named := range c.Sinks {
		names = append(names, named.Name)
	}
	if s.readers, err = spool.OpenReaders(c.Dir, names, c.Fsync, func(d spool.Damage) {
		c.Log.Error("the spool is damaged", "what", d.String(), "lost", d.Lost)
	}); err != nil {
		return err
	}
	var forwards []*Forward
	for i, named := range c.Sinks {
		dead, err := OpenDeadLetters(filepath.Join(c.Dir, named.Name+".dead.ndjson"), c.Dead, c.Now)
		if err != nil {
			return fmt.Errorf("open dead letters: %w", err)
		}
		s.dead = append(s.dead, dead)
		random, err := newRandom()
		if err != nil {
			return err
		}
		forwards = append(forwards, &Forward{
			Name: named.Name, Reader: s.readers.All()[i], Readers: s.readers, Sink: named.Sink, Trust: named.Trust, Dead: dead,
			Limits: named.Limits, Backoff: c.Backoff, Poll: c.Poll, Log: c.Log, Random: random,
		})
	}
	for _, f := range forwards {
		s.running.Go(func() { _ = f.Run(ctx, s.drained) })
	}
	return nil
}

func newRandom() (*randv2.Rand, error) {
	var seed [16]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, err
	}
	return randv2.New(randv2.NewPCG(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:]))), nil
}

// Stop sends the remaining events until ctx ends, and closes the sinks. unsent counts those of the slowest
// sink, which stay in the spool. Writers must have ended before.
func (s *Service) Stop(ctx context.Context) (unsent uint64, err error) {
	close(s.drained)
	defer context.AfterFunc(ctx, s.cancel)()
	s.running.Wait()
	unsent, err = s.readers.Left()
	return unsent, errors.Join(err, s.close())
}

func (s *Service) close() error {
	s.cancel()
	var errs []error
	for _, named := range s.config.Sinks {
		errs = append(errs, named.Sink.Close())
	}
	for _, letters := range s.dead {
		errs = append(errs, letters.Close())
	}
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	return errors.Join(errs...)
}
