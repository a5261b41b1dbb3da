package jsonstudy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// RefusedError reports that encoding/json itself cannot process a document.
type RefusedError struct {
	Document string // file:line
	What     string // the reason
}

func (e *RefusedError) Error() string { return e.Document + ": " + e.What }

// Refer runs the baseline, encoding/json, on every document and workload of the study. It stores the
// outputs as the reference. It writes inputs into dir. If encoding/json rejects a document, the error
// is a *RefusedError.
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
	const seed = "1"
	if _, err := s.Hello(ctx, p.Variant, seed); err != nil {
		return err
	}
	for _, w := range study.Workloads {
		in, err := k.Input(w, "", filepath.Clean(dir))
		if err != nil {
			return err
		}
		if err := k.loadReference(ctx, s, in, t); err != nil {
			return err
		}
	}
	return k.loadTests(ctx, s, study, filepath.Clean(dir))
}

func (k *Kind) loadReference(ctx context.Context, s *trial.Session, in wire.Workload, t Type) error {
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
	work := k.works[in.ID]
	work.reference = make([][]byte, len(k.pool))
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
		work.reference[i] = answers[0].Output
	}
	k.works[in.ID] = work
	return nil
}
