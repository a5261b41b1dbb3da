package document

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/trial"
)

// RefusedError says that encoding/json itself cannot do what is asked with a
// document.
type RefusedError struct {
	Document string // file:line
	What     string
}

// Error is one line.
func (e *RefusedError) Error() string { return e.Document + ": " + e.What }

// Refer asks the baseline for what it makes of every document, which is the
// reference for everybody. dir is where inputs may be written.
func (k *Kind) Refer(ctx context.Context, sources lab.Sources, study tare.Study, t Type, spec trial.Spec, dir string) error {
	p, err := sources.Program(ctx, codec.Kind, dir, study.Contenders[0])
	if err != nil {
		return &lab.LostError{Contender: "the baseline contender " + Baseline, Why: err.Error()}
	}
	spec.Name = Baseline + "/reference"
	spec.Dir = dir
	conn, err := k.Open(ctx, p, spec)
	if err != nil {
		return err
	}
	s := &trial.Session{Conn: conn, Trial: spec.Name}
	defer s.Close(context.WithoutCancel(ctx))
	if _, err := s.Hello(ctx, p.Variant, "1"); err != nil {
		return err
	}
	for _, w := range study.Workloads {
		in, err := k.Input(w, "", filepath.Clean(dir))
		if err != nil {
			return err
		}
		if err := k.refer(ctx, s, in, t); err != nil {
			return err
		}
	}
	return nil
}

func (k *Kind) refer(ctx context.Context, s *trial.Session, in wire.Workload, t Type) error {
	prepared, err := s.Prepare(ctx, in)
	var failed *tare.TrialError
	if errors.As(err, &failed) && failed.Class == tare.ErrContender {
		return &RefusedError{k.docs[0].File, "not what " + t.Name + " holds: " + failed.Message}
	}
	if err != nil {
		return err
	}
	if prepared.Unsupported {
		return fmt.Errorf("%s cannot do %s", Baseline, in.ID)
	}
	own := k.works[in.ID]
	own.reference = make([][]byte, len(k.pool))
	for i := range k.pool {
		answers, err := s.Answer(ctx, in.ID, []int{i})
		if err != nil {
			return err
		}
		if answers[0].Error != "" {
			what := "encoding/json refuses it: "
			if Typed(in.ID) {
				what = "not what " + t.Name + " holds: "
			}
			return &RefusedError{k.docs[i].String(), what + answers[0].Error}
		}
		own.reference[i] = answers[0].Output
	}
	took, err := s.Warm(ctx, in.ID, 1, costLeast, costMost)
	if err != nil {
		return err
	}
	own.cost = float64(took.WallNS) / float64(took.Ops)
	k.works[in.ID] = own
	return nil
}

// How long the baseline works to learn what an operation takes.
const (
	costLeast = 10 * time.Millisecond
	costMost  = 2 * time.Second
)

// Costs are what an operation takes the baseline, about, in ns by workload: of
// those that it was asked for the reference of.
func (k *Kind) Costs() map[string]float64 {
	out := map[string]float64{}
	for id, w := range k.works {
		if w.cost > 0 {
			out[id] = w.cost
		}
	}
	return out
}

// Only forgets the workloads that a study has not: nobody is examined on them.
func (k *Kind) Only(study tare.Study) {
	for id, w := range k.works {
		if !slices.ContainsFunc(study.Workloads, func(x tare.Workload) bool { return x.ID == id }) {
			w.reference = nil
			k.works[id] = w
		}
	}
}
