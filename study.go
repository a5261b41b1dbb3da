package tare

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Study is a question with everything needed to answer it: who is measured, on
// what, by which measure, and what was claimed before.
type Study struct {
	ID          string      `json:"study"`
	Question    string      `json:"question"`
	Answer      []Answer    `json:"answer,omitempty"`      // what to print on top of a result: the first that the result allows
	Recommended []Answer    `json:"recommended,omitempty"` // recommendation of the publication and whether it is confirmed: the first that the result allows
	Sources     []Source    `json:"sources,omitempty"`     // where publications that claims name can be read
	Kind        Kind        `json:"kinds"`
	Baseline    string      `json:"baseline"` // id of the entry every ratio is taken to
	Contenders  []Entry     `json:"contenders"`
	Workloads   []Workload  `json:"workloads"`
	Metrics     []string    `json:"metrics"` // names in the catalogue; the first is primary
	Criteria    []Criterion `json:"criteria,omitempty"`
	Claims      []Claim     `json:"claims,omitempty"`
	Decompose   []Decompose `json:"decompose,omitempty"`  // differences to split into causes
	BreakEven   []BreakEven `json:"break_even,omitempty"` // from which rate on a difference matters
	Budget      Budget      `json:"budget"`
	Dir         string      `json:"-"` // directory of the study file; relative paths start here
	Borrowed    bool        `json:"-"` // the input is the user's and the contenders are not: the user cannot mend what is wrong with one
}

// Source is a publication that claims name.
type Source struct {
	Name string `json:"name"` // as claims have it
	URL  string `json:"url"`  // of the version that was read
}

// Budget limits the duration of a study, builds not included.
type Budget struct {
	Quick time.Duration `json:"quick_ns,omitempty"` // zero means 40 s
	Full  time.Duration `json:"full_ns,omitempty"`  // zero means 5 min

	QuickWorkloads []string `json:"quick_workloads,omitempty"` // the only ones quick measures; none: all that carry a claim or a criterion
}

// Entry is a contender as a study names it, before anything is built.
type Entry struct {
	ID      string `json:"id"`                // unique in the study
	Use     string `json:"use,omitempty"`     // contender id in the catalog; empty means ID
	Program string `json:"program,omitempty"` // directory of a contender's own module, relative to the study file

	Command []string `json:"command,omitempty"` // or a command line: of a program that speaks the contender protocol, or of a server; $PORT in it is the port for it, $DIR a separate directory, $DESTINATION a port on loopback (see Delivers)
	URL     string   `json:"url,omitempty"`     // or the address of a running server

	Requires []string          `json:"requires,omitempty"` // of a command: programs that must be on PATH and run; if one does not, the contender is skipped and reported; tare: the running program
	Files    map[string]string `json:"files,omitempty"`    // of a command: texts to lay into $DIR by name; $PORT, $DIR and $DESTINATION in them are replaced
	Path     string            `json:"path,omitempty"`     // of a command: what every path begins with, e.g. /ingest
	Delivers string            `json:"delivers,omitempty"` // of a command: destination of its items, an item a line: a pattern of files, e.g. $DIR/*.log, or $DESTINATION, the port of an HTTP server that tare starts and that counts lines
	Answers  Answers           `json:"answers,omitempty"`  // how its answers are compared with the reference; "": completely

	Set    map[string]string `json:"set,omitempty"`   // how it is configured, e.g. log: pty; the kind knows the words
	Expect Expect            `json:"expect,omitzero"` // overrides the contender's own expect

	With  []string `json:"with,omitempty"`  // modules to build it with: path@version, or path=./dir
	Go    string   `json:"go,omitempty"`    // toolchain to build it with, e.g. go1.25.5; empty means the machine's
	Given string   `json:"given,omitempty"` // module that the user must name; otherwise the entry is skipped
}

// Answers defines how the answers of a contender are compared with the reference.
type Answers string

// Ways to compare them. If only the status counts the contender has role apart: see [RoleApart].
const (
	AnswersWhole  Answers = ""
	AnswersStatus Answers = "status"
)

// Leaf returns the catalog id of the entry.
func (e Entry) Leaf() string {
	if e.Use != "" {
		return e.Use
	}
	return e.ID
}

// Launch returns how the contender is started.
func (e Entry) Launch() Launch {
	switch {
	case len(e.Command) > 0:
		return LaunchCommand
	case e.URL != "":
		return LaunchURL
	}
	return LaunchProgram
}

// checkFields returns an error if fields of the entry contradict each other or its way to run.
func (e Entry) checkFields() error {
	given := 0
	for _, is := range []bool{e.Use != "", e.Program != "", len(e.Command) > 0, e.URL != ""} {
		if is {
			given++
		}
	}
	if given > 1 {
		return fieldError("", fmt.Sprintf("contender %q is given in more than one way", e.ID), "keep one of use, program, command and url")
	}
	if e.Launch() != LaunchProgram && (len(e.With) > 0 || e.Go != "" || e.Given != "") {
		return fieldError("", fmt.Sprintf("contender %q is not built here, so it cannot be built with something else", e.ID), "leave with, go and given out")
	}
	for key, is := range map[string]bool{"requires": len(e.Requires) > 0, "files": len(e.Files) > 0, "path": e.Path != "", "delivers": e.Delivers != ""} {
		if is && e.Launch() != LaunchCommand {
			return fieldError(key, fmt.Sprintf("contender %q has %s and is no command", e.ID, key), "leave it out, or give command")
		}
	}
	switch {
	case e.Path != "" && (e.Path[0] != '/' || strings.HasSuffix(e.Path, "/")):
		return fieldError("path", fmt.Sprintf("path %q of contender %q", e.Path, e.ID), "it begins with a slash and does not end with one, e.g. /ingest")
	case e.Answers != AnswersWhole && e.Answers != AnswersStatus:
		return fieldError("answers", fmt.Sprintf("unknown answers %q of contender %q", e.Answers, e.ID), "known: status; leave it out for whole answers")
	case e.Answers != AnswersWhole && !e.Expect.IsZero():
		return fieldError("answers", fmt.Sprintf("contender %q is a trap and cannot stand apart as well", e.ID), "leave answers or expect out")
	}
	if e.Delivers != "$DESTINATION" && e.containsWord("$DESTINATION", "${DESTINATION}") {
		return fieldError("delivers", fmt.Sprintf("contender %q has $DESTINATION in its command, and not in delivers", e.ID), "add delivers: $DESTINATION")
	}
	for name := range e.Files {
		if name == "" || strings.ContainsAny(name, `/\`) || name[0] == '.' {
			return fieldError("files", fmt.Sprintf("%q cannot be the name of a file of contender %q", name, e.ID), "a plain name, e.g. fluent.conf")
		}
	}
	return nil
}

// containsWord reports whether a command, its files or delivers contain one of words.
func (e Entry) containsWord(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		in := func(text string) bool { return strings.Contains(text, word) }
		return in(e.Delivers) || slices.ContainsFunc(e.Command, in) || slices.ContainsFunc(slices.Collect(maps.Values(e.Files)), in)
	})
}

// Expect is the required result of a trap: void by each of the named checks.
type Expect struct {
	Void []string `json:"void,omitempty"`
}

// IsZero reports whether nothing is expected.
func (e Expect) IsZero() bool { return len(e.Void) == 0 }

// Validate reports the first thing in the study that cannot be carried out.
// Errors carry the path of the field (see FieldError), so that a reader of
// files can add line and column.
func (s *Study) Validate() error {
	switch {
	case s.ID == "":
		return fieldError("study", "missing", "give the study a name, e.g. study: json-encode")
	case s.Kind == "":
		return fieldError("kind", "missing", "name the kind of contenders, e.g. kind: codec")
	case len(s.Contenders) == 0:
		return fieldError("contenders", "missing", "list at least the baseline and one contender")
	case len(s.Workloads) == 0:
		return fieldError("workloads", "missing", "list at least one workload")
	case len(s.Metrics) == 0:
		return fieldError("metrics", "missing", "list at least one metric, e.g. metrics: [time]")
	}
	seen := map[string]bool{}
	for i, e := range s.Contenders {
		at := fmt.Sprintf("contenders[%d]", i)
		if e.ID == "" {
			return fieldError(at, "contender without an id", "write an id, or {id: …, use: …}")
		}
		if seen[e.ID] {
			return fieldError(at, fmt.Sprintf("contender %q is listed twice", e.ID), "give the second one its own id with {id: …, use: …}")
		}
		if e.ID == ControlID || e.ID == NullID {
			return fieldError(at, fmt.Sprintf("%q is reserved", e.ID), "the control and the null contender join every study by themselves")
		}
		if err := e.checkFields(); err != nil {
			return prefixPath(at, err)
		}
		if e.ID == s.Baseline && e.Answers != AnswersWhole {
			return fieldError(at+".answers", "the baseline cannot stand apart", "its answers are compared with the reference whole; leave answers out")
		}
		seen[e.ID] = true
	}
	if !seen[s.Baseline] {
		return fieldError("baseline", fmt.Sprintf("baseline %q is not among the contenders", s.Baseline), "name one of the listed contenders")
	}
	for i, m := range s.Metrics {
		if known, ok := MetricNamed(m); !ok || known.Counted {
			return fieldError(fmt.Sprintf("metrics[%d]", i), fmt.Sprintf("unknown metric %q", m), "known: "+MetricNames())
		}
	}
	works := map[string]bool{}
	for i, w := range s.Workloads {
		if err := w.Validate(); err != nil {
			return prefixPath(fmt.Sprintf("workloads[%d]", i), err)
		}
		if works[w.ID] {
			return fieldError(fmt.Sprintf("workloads[%d]", i), fmt.Sprintf("workload %q is listed twice", w.ID), "give each workload its own id")
		}
		works[w.ID] = true
		for k, id := range w.Contenders {
			if !seen[id] {
				return fieldError(fmt.Sprintf("workloads[%d].contenders[%d]", i, k), fmt.Sprintf("unknown contender %q", id), "name the study's contenders")
			}
		}
	}
	for i, c := range s.Criteria {
		at := fmt.Sprintf("criteria[%d]", i)
		if _, err := c.Rule(); err != nil {
			return prefixPath(at, err)
		}
		if err := s.checkReferences(at, c.Contender, c.Workload, c.Metric, works, seen); err != nil {
			return err
		}
		if c.Of != "" && !works[c.Of] {
			return fieldError(at+".of", fmt.Sprintf("unknown workload %q", c.Of), "name one of the study's workloads")
		}
	}
	ids := map[string]bool{}
	for i, c := range s.Claims {
		at := fmt.Sprintf("claims[%d]", i)
		if err := c.Validate(); err != nil {
			return prefixPath(at, err)
		}
		if ids[c.ID] {
			return fieldError(at+".id", fmt.Sprintf("claim %q is listed twice", c.ID), "claim ids are unique in a study")
		}
		ids[c.ID] = true
		if err := s.checkReferences(at, c.Contender, c.Workload, c.Metric, works, seen); err != nil {
			return err
		}
		if err := s.checkReferences(at+".of", c.Of.Contender, c.Of.Workload, c.Of.Metric, works, seen); err != nil {
			return err
		}
		if err := s.checkReferences(at+".stand_in", c.StandIn, "", c.Plus, works, seen); err != nil {
			return err
		}
		for k, shown := range c.Shown {
			if shown.Repository == "" || len(shown.Commit) < 7 || shown.Path == "" || shown.Line < 1 || shown.Says == "" {
				return fieldError(fmt.Sprintf("%s.shown[%d]", at, k), "public code without its place or what it shows", "give repository, commit, path, line and says")
			}
		}
		for _, w := range c.Workloads {
			if !works[w] {
				return fieldError(at+".workloads", fmt.Sprintf("unknown workload %q", w), "name the study's workloads")
			}
		}
		if err := s.checkCauses(at, c); err != nil {
			return err
		}
	}
	for i, w := range s.Budget.QuickWorkloads {
		if !works[w] {
			return fieldError(fmt.Sprintf("budget.quick_workloads[%d]", i), fmt.Sprintf("unknown workload %q", w), "name the study's workloads")
		}
	}
	for i, d := range s.Decompose {
		if err := d.validate(fmt.Sprintf("decompose[%d]", i), s, works, seen); err != nil {
			return err
		}
	}
	for i, b := range s.BreakEven {
		if err := b.validate(fmt.Sprintf("break_even[%d]", i), s, works, seen); err != nil {
			return err
		}
	}
	for key, sentences := range map[string][]Answer{"answer": s.Answer, "recommended": s.Recommended} {
		for i, a := range sentences {
			if err := s.checkAnswer(a, works, seen); err != nil {
				return prefixPath(fmt.Sprintf("%s[%d]", key, i), err)
			}
		}
	}
	return s.checkOptional()
}

// checkCauses returns an error if a step that a claim names is not the decomposition's.
func (s *Study) checkCauses(at string, c Claim) error {
	if c.Decomposition == "" {
		return nil
	}
	i := slices.IndexFunc(s.Decompose, func(d Decompose) bool { return d.ID == c.Decomposition })
	if i < 0 {
		return fieldError(at+".decomposition", fmt.Sprintf("unknown decomposition %q", c.Decomposition), "name one of the study's, under decompose:")
	}
	for k, to := range c.Causes {
		if !slices.ContainsFunc(s.Decompose[i].Steps, func(step DecomposeStep) bool { return step.To == to }) {
			return fieldError(fmt.Sprintf("%s.causes[%d]", at, k), fmt.Sprintf("no step of %s leads to %q", c.Decomposition, to), "name contenders of its steps")
		}
	}
	return nil
}

func (s *Study) checkReferences(at, contender, workload, metric string, works, seen map[string]bool) error {
	if contender != "" && !seen[contender] {
		return fieldError(at+".contender", fmt.Sprintf("unknown contender %q", contender), "name one of the study's contenders")
	}
	if workload != "" && !works[workload] {
		return fieldError(at+".workload", fmt.Sprintf("unknown workload %q", workload), "name one of the study's workloads")
	}
	if metric != "" && !slices.Contains(s.Metrics, metric) {
		return fieldError(at+".metric", fmt.Sprintf("metric %q is not among the study's metrics", metric), "add it to metrics:")
	}
	return nil
}

// FieldError is the error of one field of a study, with what would be right.
type FieldError struct {
	Path string // e.g. contenders[2].id
	What string // what is wrong
	Hint string // what would be right; may be empty
}

// Error returns one line: path, what is wrong, what would be right.
func (e *FieldError) Error() string {
	s := e.Path + ": " + e.What
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func fieldError(path, what, hint string) error {
	return &FieldError{Path: path, What: what, Hint: hint}
}

func prefixPath(path string, err error) error {
	var f *FieldError
	if errors.As(err, &f) {
		if f.Path == "" {
			return &FieldError{Path: path, What: f.What, Hint: f.Hint}
		}
		return &FieldError{Path: path + "." + f.Path, What: f.What, Hint: f.Hint}
	}
	return &FieldError{Path: path, What: err.Error()}
}

// Having returns the study without the entries whose module is missing (see [Entry]), and without
// the workloads and the answers that need one of them. Claims about such an entry are tested on its
// stand-in.
func (s Study) Having(has func(module string) bool) Study {
	out := map[string]bool{}
	var entries []Entry
	for _, e := range s.Contenders {
		if e.Given != "" && !has(e.Given) {
			out[e.ID] = true
			continue
		}
		entries = append(entries, e)
	}
	if len(out) == 0 {
		return s
	}
	var works []Workload
	for _, w := range s.Workloads {
		if len(w.Contenders) > 0 {
			w.Contenders = slices.DeleteFunc(slices.Clone(w.Contenders), func(id string) bool { return out[id] })
			if len(w.Contenders) == 0 {
				continue
			}
		}
		works = append(works, w)
	}
	s.Contenders, s.Workloads, s.Claims = entries, works, slices.Clone(s.Claims)
	for i, c := range s.Claims {
		if out[c.Contender] && c.StandIn != "" {
			s.Claims[i].Contender = c.StandIn
		}
	}
	needsMissing := func(a Answer) bool { return a.names(out) }
	s.Answer = slices.DeleteFunc(slices.Clone(s.Answer), needsMissing)
	s.Recommended = slices.DeleteFunc(slices.Clone(s.Recommended), needsMissing)
	return s
}

// checkOptional reports a question about a contender that may not be in the study.
func (s *Study) checkOptional() error {
	given := map[string]bool{}
	for _, e := range s.Contenders {
		given[e.ID] = e.Given != ""
	}
	about := func(at string, ids ...string) error {
		for _, id := range ids {
			if given[id] {
				return fieldError(at, fmt.Sprintf("a question about %s, which is only measured where its module is given", id), "ask it of another contender, or name one that answers instead: stand_in")
			}
		}
		return nil
	}
	if err := about("baseline", s.Baseline); err != nil {
		return err
	}
	for i, c := range s.Criteria {
		if err := about(fmt.Sprintf("criteria[%d]", i), c.Contender); err != nil {
			return err
		}
	}
	for i, c := range s.Claims {
		asked := []string{c.StandIn, c.Of.Contender}
		if c.StandIn == "" {
			asked = append(asked, c.Contender)
		}
		if err := about(fmt.Sprintf("claims[%d]", i), asked...); err != nil {
			return err
		}
	}
	for i, b := range s.BreakEven {
		if err := about(fmt.Sprintf("break_even[%d]", i), b.Contender); err != nil {
			return err
		}
	}
	for i, d := range s.Decompose {
		ids := []string{d.From}
		for _, step := range d.Steps {
			ids = append(ids, step.To)
		}
		if err := about(fmt.Sprintf("decompose[%d]", i), ids...); err != nil {
			return err
		}
	}
	return nil
}
