package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/atomicfile"
)

// profileTime is the duration of a contender's run for one profile. It gives some hundreds of
// samples at the usual 100 a second.
const profileTime = 3 * time.Second

// takeProfiles takes the requested profiles after the rounds, so that no profiler disturbs a
// measurement. It skips a contender that cannot be profiled.
func (r *run) takeProfiles(ctx context.Context) error {
	if len(r.opts.Profile) == 0 || r.isInterrupted() || ctx.Err() != nil {
		return nil
	}
	dir := filepath.Join(r.opts.Dir, "profiles")
	if err := atomicfile.MakeDir(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of profiles: %w", err)
	}
	for _, c := range r.contenders {
		// The control is the baseline again, and the null contender does no work.
		isHarness := c.Role == tare.RoleControl || c.Role == tare.RoleNull
		if r.dropped[c.ID] || isHarness {
			continue
		}
		r.sendProgress(Event{Phase: "profile", Contender: c.ID})
		err := r.profileOne(ctx, c.ID, dir)
		if ctx.Err() != nil {
			return nil // the measurements stay valid
		}
		var te *tare.TrialError
		if errors.As(err, &te) {
			r.sendProgress(Event{Phase: "profile", Contender: c.ID, Err: te})
		} else if err != nil {
			return err
		}
	}
	return nil
}

// profileOne profiles contender id on every workload that it was piloted on.
func (r *run) profileOne(ctx context.Context, id, dir string) error {
	s, err := r.openTrial(ctx, id, "profile")
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	for _, w := range r.study.Workloads {
		if !r.wasPilotedOn(id, w.ID) {
			continue
		}
		prep, err := s.Prepare(ctx, r.withSet(id, r.inputs[w.ID]))
		if err != nil {
			return err
		}
		if prep.Unsupported {
			continue
		}
		if _, err := s.Warm(ctx, w.ID, warmGC, warmUpTime(w), warmCapNS*time.Nanosecond, 0); err != nil {
			return err
		}
		for _, profile := range r.opts.Profile {
			a, err := s.Profile(ctx, w.ID, profile, profileTime)
			if err != nil {
				return err
			}
			if err := r.saveProfile(id, w.ID, profile, dir, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// saveProfile writes one profile of reply a into dir, and adds it to the result.
func (r *run) saveProfile(id, workload, profile, dir string, a wire.Reply) error {
	if len(a.Profile) == 0 {
		return &tare.TrialError{Class: tare.ErrProtocol, Message: fmt.Sprintf("an empty %s profile of %s", profile, workload)}
	}
	name := strings.NewReplacer("/", "_", "\\", "_").Replace(id+"-"+workload) + "." + profile + ".pprof"
	if err := atomicfile.Write(atomicfile.System{}, filepath.Join(dir, name), a.Profile, 0o600); err != nil {
		return fmt.Errorf("keep a profile: %w", err)
	}
	unit := "nanoseconds"
	if profile == tare.ProfileMem {
		unit = "bytes"
	}
	r.profiles = append(r.profiles, tare.Profile{
		Contender: id, Workload: workload, Of: profile, Unit: unit, Ops: a.Ops, File: filepath.ToSlash(filepath.Join("profiles", name)),
	})
	return nil
}
