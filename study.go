package tare

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Study is a question with everything that is needed to answer it by measurements. For example, it
// compares two routers, the contenders, on some workloads.
type Study struct {
	ID          string      `json:"study"`
	Question    string      `json:"question"`
	Answer      []Answer    `json:"answer,omitempty"`      // possible answers; the first that fits the result is printed
	Recommended []Answer    `json:"recommended,omitempty"` // sentences about a publication's recommendation; the first that fits is printed
	Sources     []Source    `json:"sources,omitempty"`     // publications that claims name
	Kind        Kind        `json:"kinds"`
	Baseline    string      `json:"baseline"` // id of the contender that is the denominator of every ratio
	Contenders  []Entry     `json:"contenders"`
	Workloads   []Workload  `json:"workloads"`
	Metrics     []string    `json:"metrics"` // the first is primary
	Criteria    []Criterion `json:"criteria,omitempty"`
	Claims      []Claim     `json:"claims,omitempty"`
	Decompose   []Decompose `json:"decompose,omitempty"`  // differences to split into causes
	BreakEven   []BreakEven `json:"break_even,omitempty"` // requests for the rate from which a difference matters
	Budget      Budget      `json:"budget"`
	Dir         string      `json:"-"` // directory of the study file, to which its paths are relative
	Borrowed    bool        `json:"-"` // only the input is the user's: the contenders come with tare
}

// Source is a publication that claims name.
type Source struct {
	Name string `json:"name"` // as in Claim.Source
	URL  string `json:"url"`  // address of the version that was read
}

// Budget limits the duration of a study, builds not included.
type Budget struct {
	Quick time.Duration `json:"quick_ns,omitempty"` // 0 means 40 s
	Full  time.Duration `json:"full_ns,omitempty"`  // 0 means 5 min

	QuickWorkloads []string `json:"quick_workloads,omitempty"` // nil means all with a claim or a criterion
}

// Entry is a contender as a study file describes it. At most one of Use, Program, Command and URL
// is set. Only Command has the fields with the comment "command".
type Entry struct {
	ID      string `json:"id"`                // unique
	Use     string `json:"use,omitempty"`     // contender id in the catalog; "" means ID
	Program string `json:"program,omitempty"` // directory of a contender's module, relative to the study file

	Command []string `json:"command,omitempty"` // command line; $PORT is replaced by the port to listen on, $DIR by a directory, $DESTINATION as in Delivers
	URL     string   `json:"url,omitempty"`     // address of a running server

	Requires []string          `json:"requires,omitempty"` // command: programs on PATH, without which it is skipped; "tare" is the running program
	Files    map[string]string `json:"files,omitempty"`    // command: contents of files to write to $DIR, by name
	Path     string            `json:"path,omitempty"`     // command: prefix of the path of every request, e.g. /ingest
	Delivers string            `json:"delivers,omitempty"` // command: where it writes its items, one a line: a pattern such as $DIR/*.log, or $DESTINATION, the port of a server of tare
	Answers  Answers           `json:"answers,omitempty"`  // how its answers are compared with the reference

	Set    map[string]string `json:"set,omitempty"`   // configuration, e.g. log: pty; the kind defines keys and values
	Expect Expect            `json:"expect,omitzero"` // replaces the expectation that the contender declares

	With  []string `json:"with,omitempty"`  // modules to build it with: path@version, or path=./dir
	Go    string   `json:"go,omitempty"`    // toolchain to build it with, e.g. go1.25.5; "" means the machine's
	Tags  []string `json:"-"`               // build tags in addition to the contender's, set to count instructions
	Given string   `json:"given,omitempty"` // module that the user must name, otherwise the entry is skipped; "" means that it is always measured
}

// Answers defines how answers are compared with the reference.
type Answers string

// Ways to compare answers.
const (
	AnswersWhole  Answers = ""       // completely
	AnswersStatus Answers = "status" // by their status only; the contender has [RoleApart]
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

func (e Entry) checkFields() error {
	ways := 0
	for _, isSet := range []bool{e.Use != "", e.Program != "", len(e.Command) > 0, e.URL != ""} {
		if isSet {
			ways++
		}
	}
	if ways > 1 {
		return fieldError("", fmt.Sprintf("contender %q is given in more than one way", e.ID), "keep one of use, program, command and url")
	}
	if e.Launch() != LaunchProgram && (len(e.With) > 0 || e.Go != "" || e.Given != "") {
		return fieldError("", fmt.Sprintf("contender %q is not built by tare, so it cannot be built with something else", e.ID), "leave with, go and given out")
	}
	for key, isSet := range map[string]bool{"requires": len(e.Requires) > 0, "files": len(e.Files) > 0, "path": e.Path != "", "delivers": e.Delivers != ""} {
		if isSet && e.Launch() != LaunchCommand {
			return fieldError(key, fmt.Sprintf("contender %q has %s and is no command", e.ID, key), "leave it out, or give command")
		}
	}
	switch {
	case e.Path != "" && (e.Path[0] != '/' || strings.HasSuffix(e.Path, "/")):
		return fieldError("path", fmt.Sprintf("path %q of contender %q", e.Path, e.ID), "it begins with a slash and does not end with one, e.g. /ingest")
	case e.Answers != AnswersWhole && e.Answers != AnswersStatus:
		return fieldError("answers", fmt.Sprintf("unknown answers %q of contender %q", e.Answers, e.ID), "known: status; omit it for complete answers")
	case e.Answers != AnswersWhole && !e.Expect.IsZero():
		return fieldError("answers", fmt.Sprintf("contender %q is a trap and cannot be status-only as well", e.ID), "leave answers or expect out")
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

func (e Entry) containsWord(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		hasWord := func(text string) bool { return strings.Contains(text, word) }
		return hasWord(e.Delivers) || slices.ContainsFunc(e.Command, hasWord) || slices.ContainsFunc(slices.Collect(maps.Values(e.Files)), hasWord)
	})
}

// Expect makes a contender a trap: it reproduces a published mistake, which checks must find.
type Expect struct {
	Void []string `json:"void,omitempty"` // checks, each of which must void the contender's measurements
}

// IsZero reports whether nothing is expected.
func (e Expect) IsZero() bool { return len(e.Void) == 0 }

// Validate returns an error about the first field that is missing or invalid. It is a *FieldError,
// so that a reader of files can add its line.
func (s *Study) Validate() error {
	if err := s.checkRequired(); err != nil {
		return err
	}
	contenders, err := s.checkContenders()
	if err != nil {
		return err
	}
	for i, m := range s.Metrics {
		if known, ok := MetricNamed(m); !ok || known.Counted {
			return fieldError(fmt.Sprintf("metrics[%d]", i), fmt.Sprintf("unknown metric %q", m), "known: "+MetricNames())
		}
	}
	workloads, err := s.checkWorkloads(contenders)
	if err != nil {
		return err
	}
	if err := s.checkQuestions(workloads, contenders); err != nil {
		return err
	}
	return s.checkOptional()
}

func (s *Study) checkRequired() error {
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
	return nil
}

// checkContenders also returns the ids of the contenders.
func (s *Study) checkContenders() (map[string]bool, error) {
	contenders := map[string]bool{}
	for i, e := range s.Contenders {
		path := fmt.Sprintf("contenders[%d]", i)
		if e.ID == "" {
			return nil, fieldError(path, "contender without an id", "write an id, or {id: …, use: …}")
		}
		if contenders[e.ID] {
			return nil, fieldError(path, fmt.Sprintf("contender %q is listed twice", e.ID), "give the second one its own id with {id: …, use: …}")
		}
		if e.ID == ControlID || e.ID == NullID {
			return nil, fieldError(path, fmt.Sprintf("%q is reserved", e.ID), "the control and the null contender join every study by themselves")
		}
		if err := e.checkFields(); err != nil {
			return nil, prefixPath(path, err)
		}
		if e.ID == s.Baseline && e.Answers != AnswersWhole {
			return nil, fieldError(path+".answers", "the baseline cannot be status-only", "its answers are compared with the reference completely; leave answers out")
		}
		contenders[e.ID] = true
	}
	if !contenders[s.Baseline] {
		return nil, fieldError("baseline", fmt.Sprintf("baseline %q is not among the contenders", s.Baseline), "name one of the listed contenders")
	}
	return contenders, nil
}

// checkWorkloads also returns the ids of the workloads.
func (s *Study) checkWorkloads(contenders map[string]bool) (map[string]bool, error) {
	workloads := map[string]bool{}
	for i, w := range s.Workloads {
		if err := w.Validate(); err != nil {
			return nil, prefixPath(fmt.Sprintf("workloads[%d]", i), err)
		}
		if workloads[w.ID] {
			return nil, fieldError(fmt.Sprintf("workloads[%d]", i), fmt.Sprintf("workload %q is listed twice", w.ID), "give each workload its own id")
		}
		workloads[w.ID] = true
		for k, id := range w.Contenders {
			if !contenders[id] {
				return nil, fieldError(fmt.Sprintf("workloads[%d].contenders[%d]", i, k), fmt.Sprintf("unknown contender %q", id), "name the study's contenders")
			}
		}
	}
	return workloads, nil
}

// checkQuestions checks everything that names workloads and contenders.
func (s *Study) checkQuestions(workloads, contenders map[string]bool) error {
	for i, c := range s.Criteria {
		path := fmt.Sprintf("criteria[%d]", i)
		if _, err := c.Rule(); err != nil {
			return prefixPath(path, err)
		}
		if err := s.checkReferences(path, c.Contender, c.Workload, c.Metric, workloads, contenders); err != nil {
			return err
		}
		if c.Of != "" && !workloads[c.Of] {
			return fieldError(path+".of", fmt.Sprintf("unknown workload %q", c.Of), "name one of the study's workloads")
		}
	}
	if err := s.checkClaims(workloads, contenders); err != nil {
		return err
	}
	for i, w := range s.Budget.QuickWorkloads {
		if !workloads[w] {
			return fieldError(fmt.Sprintf("budget.quick_workloads[%d]", i), fmt.Sprintf("unknown workload %q", w), "name the study's workloads")
		}
	}
	for i, d := range s.Decompose {
		if err := d.validate(fmt.Sprintf("decompose[%d]", i), s, workloads, contenders); err != nil {
			return err
		}
	}
	for i, b := range s.BreakEven {
		if err := b.validate(fmt.Sprintf("break_even[%d]", i), s, workloads, contenders); err != nil {
			return err
		}
	}
	for key, sentences := range map[string][]Answer{"answer": s.Answer, "recommended": s.Recommended} {
		for i, a := range sentences {
			if err := s.checkAnswer(a, workloads, contenders); err != nil {
				return prefixPath(fmt.Sprintf("%s[%d]", key, i), err)
			}
		}
	}
	return nil
}

func (s *Study) checkClaims(workloads, contenders map[string]bool) error {
	ids := map[string]bool{}
	for i, c := range s.Claims {
		path := fmt.Sprintf("claims[%d]", i)
		if err := c.Validate(); err != nil {
			return prefixPath(path, err)
		}
		if ids[c.ID] {
			return fieldError(path+".id", fmt.Sprintf("claim %q is listed twice", c.ID), "claim ids are unique in a study")
		}
		ids[c.ID] = true
		if err := s.checkClaim(path, c, workloads, contenders); err != nil {
			return err
		}
	}
	return nil
}

func (s *Study) checkClaim(path string, c Claim, workloads, contenders map[string]bool) error {
	if err := s.checkReferences(path, c.Contender, c.Workload, c.Metric, workloads, contenders); err != nil {
		return err
	}
	if err := s.checkReferences(path+".of", c.Of.Contender, c.Of.Workload, c.Of.Metric, workloads, contenders); err != nil {
		return err
	}
	if err := s.checkReferences(path+".stand_in", c.StandIn, "", c.Plus, workloads, contenders); err != nil {
		return err
	}
	for k, shown := range c.Shown {
		if shown.Repository == "" || len(shown.Commit) < 7 || shown.Path == "" || shown.Line < 1 || shown.Says == "" {
			return fieldError(fmt.Sprintf("%s.shown[%d]", path, k), "public code without its place or what it shows", "give repository, commit, path, line and says")
		}
	}
	for _, w := range c.Workloads {
		if !workloads[w] {
			return fieldError(path+".workloads", fmt.Sprintf("unknown workload %q", w), "name the study's workloads")
		}
	}
	return s.checkCauses(path, c)
}

func (s *Study) checkCauses(path string, c Claim) error {
	if c.Decomposition == "" {
		return nil
	}
	i := slices.IndexFunc(s.Decompose, func(d Decompose) bool { return d.ID == c.Decomposition })
	if i < 0 {
		return fieldError(path+".decomposition", fmt.Sprintf("unknown decomposition %q", c.Decomposition), "name one of the study's, under decompose:")
	}
	for k, to := range c.Causes {
		if !slices.ContainsFunc(s.Decompose[i].Steps, func(step DecomposeStep) bool { return step.To == to }) {
			return fieldError(fmt.Sprintf("%s.causes[%d]", path, k), fmt.Sprintf("no step of %s leads to %q", c.Decomposition, to), "name contenders of its steps")
		}
	}
	return nil
}

// checkReferences returns an error about a field below path if the study does not have contender,
// workload or metric. It does not check "".
func (s *Study) checkReferences(path, contender, workload, metric string, workloads, contenders map[string]bool) error {
	if contender != "" && !contenders[contender] {
		return fieldError(path+".contender", fmt.Sprintf("unknown contender %q", contender), "name one of the study's contenders")
	}
	if workload != "" && !workloads[workload] {
		return fieldError(path+".workload", fmt.Sprintf("unknown workload %q", workload), "name one of the study's workloads")
	}
	if metric != "" && !slices.Contains(s.Metrics, metric) {
		return fieldError(path+".metric", fmt.Sprintf("metric %q is not among the study's metrics", metric), "add it to metrics:")
	}
	return nil
}

// FieldError is the error of one field of a study.
type FieldError struct {
	Path string // e.g. contenders[2].id
	What string // the problem
	Hint string // how to correct it; may be ""
}

// Error returns path, problem and hint in one line.
func (e *FieldError) Error() string {
	s := e.Path + ": " + e.What
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func fieldError(path, problem, hint string) error {
	return &FieldError{Path: path, What: problem, Hint: hint}
}

// prefixPath returns a FieldError with path in front of the path of err.
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

// Having returns the study without the entries whose module (Entry.Given) the user did not name.
// has reports whether the user named a module. Having also removes the workloads and answers that
// are only about such entries. A claim about one is tested on its StandIn.
func (s Study) Having(has func(module string) bool) Study {
	removed := map[string]bool{}
	var entries []Entry
	for _, e := range s.Contenders {
		if e.Given != "" && !has(e.Given) {
			removed[e.ID] = true
			continue
		}
		entries = append(entries, e)
	}
	if len(removed) == 0 {
		return s
	}
	var workloads []Workload
	for _, w := range s.Workloads {
		if len(w.Contenders) > 0 {
			w.Contenders = slices.DeleteFunc(slices.Clone(w.Contenders), func(id string) bool { return removed[id] })
			if len(w.Contenders) == 0 {
				continue
			}
		}
		workloads = append(workloads, w)
	}
	s.Contenders, s.Workloads, s.Claims = entries, workloads, slices.Clone(s.Claims)
	for i, c := range s.Claims {
		if removed[c.Contender] && c.StandIn != "" {
			s.Claims[i].Contender = c.StandIn
		}
	}
	quotesRemoved := func(a Answer) bool { return a.quotesAny(removed) }
	s.Answer = slices.DeleteFunc(slices.Clone(s.Answer), quotesRemoved)
	s.Recommended = slices.DeleteFunc(slices.Clone(s.Recommended), quotesRemoved)
	return s
}

// checkOptional returns an error if a question is about an optional contender. That is one with
// Given, which is measured only if the user names a module.
func (s *Study) checkOptional() error {
	isOptional := map[string]bool{}
	for _, e := range s.Contenders {
		isOptional[e.ID] = e.Given != ""
	}
	for _, q := range s.listSubjects() {
		for _, id := range q.ids {
			if isOptional[id] {
				return fieldError(q.path, fmt.Sprintf("a question about %s, which is only measured where its module is given", id), "ask it of another contender, or name one that answers instead: stand_in")
			}
		}
	}
	return nil
}

// subjects are the contenders that the field at path asks about.
type subjects struct {
	path string
	ids  []string
}

func (s *Study) listSubjects() []subjects {
	out := []subjects{{"baseline", []string{s.Baseline}}}
	for i, c := range s.Criteria {
		out = append(out, subjects{fmt.Sprintf("criteria[%d]", i), []string{c.Contender}})
	}
	for i, c := range s.Claims {
		ids := []string{c.StandIn, c.Of.Contender}
		if c.StandIn == "" {
			ids = append(ids, c.Contender)
		}
		out = append(out, subjects{fmt.Sprintf("claims[%d]", i), ids})
	}
	for i, b := range s.BreakEven {
		out = append(out, subjects{fmt.Sprintf("break_even[%d]", i), []string{b.Contender}})
	}
	for i, d := range s.Decompose {
		ids := []string{d.From}
		for _, step := range d.Steps {
			ids = append(ids, step.To)
		}
		out = append(out, subjects{fmt.Sprintf("decompose[%d]", i), ids})
	}
	return out
}
