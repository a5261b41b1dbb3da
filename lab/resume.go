package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/lab/journal"
)

// ResumeError is the error of a run that cannot be resumed, with the reason.
type ResumeError struct {
	Path string
	Why  string
}

// Error returns one line.
func (e *ResumeError) Error() string {
	if strings.HasPrefix(e.Why, e.Path+":") { // an error of the journal begins with its path and line
		return "cannot resume " + e.Why
	}
	return fmt.Sprintf("cannot resume %s: %s", e.Path, e.Why)
}

// studyFingerprint returns a hash of the study and the binaries. A run can only resume a journal
// with the same hash.
func (r *run) studyFingerprint() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, v := range []any{journal.Format, r.study, r.kindName} {
		if err := enc.Encode(v); err != nil { // plain structs: cannot fail
			panic(err)
		}
	}
	for _, c := range r.contenders {
		fmt.Fprintln(h, c.ID, c.SHA256, c.Variant)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// addLook adds the judgement that an interrupted run made after its last round to the plan. Each
// judgement is one more chance of a false finding, and widens the confidence intervals.
func (r *run) addLook() error {
	done := len(r.rounds) - r.longRoundsDone
	wasInterrupted := r.resumedLog.Done != nil && !r.isDone()
	isBetween := done > 0 && done < r.plan.RoundsPlanned
	if !wasInterrupted || !isBetween || slices.Contains(r.plan.Looks, done) {
		return nil
	}
	r.plan.Looks = append(slices.Clone(r.plan.Looks), done)
	slices.Sort(r.plan.Looks)
	return r.journal.Append(journal.Entry{Plan: &r.plan})
}

// whyMismatch returns a clause about how the journal with this head differs from a run with this
// fingerprint and these options. It returns "" if the run can resume the journal.
func whyMismatch(head journal.Head, fingerprint string, options map[string]string) string {
	if head.Fingerprint != fingerprint {
		return fmt.Sprintf("it belongs to another version of study %s or to other binaries; run without --resume", head.Study)
	}
	all := maps.Clone(options)
	maps.Copy(all, head.Options)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if head.Options[k] != options[k] {
			return fmt.Sprintf("it was run with %s %q, now asked with %q; ask the same or run without --resume", k, head.Options[k], options[k])
		}
	}
	return ""
}
