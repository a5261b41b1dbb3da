package fleet

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
)

// StudyOrder is a command of tare, such as tare bench, that an agent runs. The command measures as many rounds
// as the coordinator permits.
type StudyOrder struct {
	Command string         `json:"command"`         // run, bench, json, routes or gate
	ID      string         `json:"id,omitempty"`    // "" if the command chooses it
	Text    string         `json:"text,omitempty"`  // the study of tare run
	Flags   []string       `json:"flags,omitempty"` // --name=value
	Names   []string       `json:"names,omitempty"` // arguments after the flags
	Files   []File         `json:"files,omitempty"` // files that Names, flags and the study name
	Repo    *gitrev.Packed `json:"repo,omitempty"`  // working directory; nil means that of the files
	Packs   []File         `json:"packs,omitempty"` // objects of the repository

	Kind       string            `json:"kind,omitempty"`       // kind of Contenders
	Contenders map[string]string `json:"contenders,omitempty"` // hashes of the coordinator's programs by id; an agent with others rejects the order

	Most  int    `json:"most"`            // largest number of rounds
	Share int    `json:"share,omitempty"` // rounds of other measurements of a gate
	Seed  uint64 `json:"seed"`
}

type command struct {
	flags []string
	files []string
	names bool // the arguments are names of files
	code  bool // the order brings code
}

func orderableCommands() map[string]command {
	return map[string]command{
		"run": {
			flags: []string{"budget", "contender", "workload", "with", "go", "slice", "isolation", "procs", "env", "keep-env", "profile", "at"},
		},
		"bench": {
			flags: []string{"base", "head", "with", "go", "env", "keep-env", "tags", "pgo", "tests", "bench", "changed", "shard", "slice", "isolation", "layouts", "procs", "profile", "exit-code", "allow"},
			files: []string{"pgo"}, code: true,
		},
		"json":   {flags: []string{"type", "op", "only", "go", "budget"}, names: true},
		"routes": {flags: []string{"only", "contender", "workload", "whole-segments", "go", "budget"}, names: true},
		"gate":   {flags: []string{"base", "head", "changed", "shard", "profile"}, code: true},
	}
}

// CanOrderFlag reports whether an order for a command of tare can have a flag.
func CanOrderFlag(name, flag string) bool {
	return slices.Contains(orderableCommands()[name].flags, flag)
}

func cutFlag(text string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(text, "=")
	name, hasDashes := strings.CutPrefix(name, "--")
	return name, value, ok && hasDashes
}

func (o StudyOrder) flagValue(name string) string {
	for _, text := range o.Flags {
		if n, value, _ := cutFlag(text); n == name {
			return value
		}
	}
	return ""
}

// describe returns the order in words.
func (o StudyOrder) describe() string {
	if o.Command == "run" {
		return "study " + format.Line(o.ID, 80)
	}
	return strings.TrimSpace("tare " + o.Command + " " + format.Line(o.ID, 80))
}

// Check returns an error if every agent would reject the order, whatever the agent's limits.
func (o StudyOrder) Check() error {
	o.Most = max(o.Most, 1) // the caller may set it later
	return o.check(Limits{Commands: true})
}

func (o StudyOrder) hasFile(name string) bool {
	return slices.ContainsFunc(o.Files, func(f File) bool { return f.Name == name })
}

// check returns an error if an order is invalid or exceeds the limits. An order that brings code needs
// l.Commands.
func (o StudyOrder) check(l Limits) error {
	c, known := orderableCommands()[o.Command]
	hasType := o.flagValue("type") != "" // compiles a type of the repository
	hasRounds := o.Most >= 1 && o.Most <= maxRounds && o.Share >= 0 && o.Share <= maxRounds
	switch {
	case !known:
		return fmt.Errorf("%q is not a command that can be ordered", format.Line(o.Command, 40))
	case !hasRounds:
		return fmt.Errorf("%d is not a number of rounds", o.Most)
	case (c.code || hasType) && o.Repo == nil:
		return errors.New("the order has no repository")
	case c.code && !l.Commands:
		return fmt.Errorf("tare %s runs code of the order; the agent was started without --allow-commands", o.Command)
	case hasType && !l.Commands:
		return errors.New("--type runs code of the order; the agent was started without --allow-commands")
	}
	for _, text := range o.Flags {
		if err := o.checkFlag(text, l); err != nil {
			return err
		}
	}
	for _, name := range o.Names {
		isMissing := c.names && !o.hasFile(name)
		if strings.HasPrefix(name, "-") || filepath.IsAbs(name) || isMissing {
			return fmt.Errorf("the order has no file %s", format.Line(name, 80))
		}
	}
	if err := checkFiles(slices.Concat(o.Files, o.Packs)); err != nil {
		return err
	}
	if o.Repo != nil {
		if err := o.Repo.Check(); err != nil {
			return err
		}
	}
	var studyFiles []string
	if o.Command == "run" {
		var err error
		if studyFiles, err = o.checkStudy(l); err != nil {
			return err
		}
	}
	return o.checkNamed(studyFiles)
}

// checkNamed returns an error if the order has a file that no argument, flag or study names.
func (o StudyOrder) checkNamed(studyFiles []string) error {
	c, named := orderableCommands()[o.Command], studyFiles
	if c.names {
		named = append(named, o.Names...)
	}
	for _, flag := range c.files {
		named = append(named, o.flagValue(flag))
	}
	for _, f := range o.Files {
		if !slices.Contains(named, f.Name) {
			return fmt.Errorf("the order has a file %s, which it does not name", format.Line(f.Name, 80))
		}
	}
	return nil
}

func (o StudyOrder) checkFlag(text string, l Limits) error {
	c := orderableCommands()[o.Command]
	name, value, ok := cutFlag(text)
	isKeyword := value == "" || value == "off" || value == "auto" // values of --pgo that are no file
	isFile := slices.Contains(c.files, name) && !isKeyword
	switch {
	case !ok || !slices.Contains(c.flags, name):
		return fmt.Errorf("an order for tare %s does not carry %s", o.Command, format.Line(text, 80))
	case isFile && !o.hasFile(value):
		return fmt.Errorf("the order has no file %s", format.Line(value, 80))
	case name == "with":
		return checkWith("--with", value, l)
	case name == "env" && !l.Commands && !tunesRuntime(value):
		return fmt.Errorf("--env %s can run code; the agent was started without --allow-commands, and takes GOGC, GOMEMLIMIT, GODEBUG and GOEXPERIMENT", format.Line(value, 80))
	}
	return nil
}

// tunesRuntime reports whether NAME=value cannot run code.
func tunesRuntime(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOEXPERIMENT"}, name)
}

// checkWith checks a module to build with, e.g. example.org/m@v1.2.3. An untagged version may be anyone's
// code, so it needs l.Commands. label begins the error.
func checkWith(label, with string, l Limits) error {
	w, err := build.ParseWith(with, "")
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %s", label, format.Line(with, 80), format.Line(err.Error(), 200))
	case w.Dir != "":
		return fmt.Errorf("%s %s is a directory of one machine; others cannot build it", label, format.Line(with, 80))
	case !l.Commands && !w.IsTag():
		return fmt.Errorf("%s %s is no release; the agent was started without --allow-commands, and takes versions such as v1.2.3", label, format.Line(with, 80))
	}
	return nil
}

// checkStudy returns the files of the study's workloads. Commands and URLs need l.Commands. Directories are on
// another machine, so they are rejected.
func (o StudyOrder) checkStudy(l Limits) (files []string, err error) {
	study, _, err := studyfile.Read("the order's study", []byte(o.Text))
	if err != nil {
		return nil, err
	}
	for _, e := range study.Contenders {
		switch {
		case e.Program != "":
			return nil, fmt.Errorf("contender %s is a directory of one machine; others cannot build it", format.Line(e.ID, 80))
		case e.Launch() != tare.LaunchProgram && !l.Commands:
			return nil, fmt.Errorf("contender %s is a command or URL; the agent was started without --allow-commands", format.Line(e.ID, 80))
		}
		for _, with := range e.With {
			if err := checkWith("contender "+format.Line(e.ID, 80)+": with", with, l); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range study.Workloads {
		if w.File != "" && !o.hasFile(w.File) {
			return nil, fmt.Errorf("workload %s: the order has no file %s", format.Line(w.ID, 80), format.Line(w.File, 80))
		}
		files = append(files, w.File)
	}
	return files, nil
}

// Args returns the arguments of tare. dir has the order's files.
func (o StudyOrder) Args(dir string) []string {
	c := orderableCommands()[o.Command]
	args := append([]string{o.Command}, "--json", "--rounds="+strconv.Itoa(o.Most), "--seed="+strconv.FormatUint(o.Seed, 10))
	pathOf := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, text := range o.Flags {
		if name, value, _ := cutFlag(text); slices.Contains(c.files, name) && o.hasFile(value) {
			text = "--" + name + "=" + pathOf(value)
		}
		args = append(args, text)
	}
	if o.Command == "run" {
		return append(args, "-") // the study is on stdin
	}
	if len(o.Names) > 0 {
		args = append(args, "--")
	}
	for _, name := range o.Names {
		if c.names {
			name = pathOf(name)
		}
		args = append(args, name)
	}
	return args
}

// CheckResult returns the first result, which must have this number of rounds. Only tare gate has others.
func (o StudyOrder) CheckResult(rounds int, results []*tare.Result) (*tare.Result, error) {
	if len(results) == 0 || len(results) > 1 && o.Command != "gate" {
		return nil, fmt.Errorf("%s came back, not one", format.Count(len(results), "result"))
	}
	first := results[0]
	switch {
	case o.ID != "" && first.Study != o.ID:
		return nil, fmt.Errorf("a result of study %s came back", format.Line(first.Study, 80))
	case first.RoundsDone != rounds:
		return nil, fmt.Errorf("%d rounds came back; %d were given", first.RoundsDone, rounds)
	}
	for _, r := range results {
		if err := o.checkFigures(r); err != nil {
			return nil, err
		}
	}
	return first, nil
}

// checkFigures rejects a result with values that the order cannot have.
func (o StudyOrder) checkFigures(r *tare.Result) error {
	switch {
	case r.Seed != strconv.FormatUint(o.Seed, 10):
		return fmt.Errorf("a result of seed %s came back; %d was ordered", format.Line(r.Seed, 40), o.Seed)
	case len(r.Machines) > 0:
		return errors.New("a result of several machines came back")
	}
	for _, e := range r.Rounds {
		if len(e.Effects) > r.RoundsDone {
			return fmt.Errorf("%d effects of %d rounds came back", len(e.Effects), r.RoundsDone)
		}
		for _, x := range e.Effects {
			if x < -maxEffect || x > maxEffect {
				return fmt.Errorf("an impossible ratio came back: e^%g", x)
			}
		}
	}
	for _, c := range r.Comparisons {
		isOutside := c.Bounded() && (c.Ratio < c.Low || c.Ratio > c.High)
		if c.Ratio < 0 || isOutside {
			return fmt.Errorf("an impossible interval came back: %g in [%g, %g]", c.Ratio, c.Low, c.High)
		}
	}
	return nil
}

// maxEffect is the largest credible logarithm of a ratio: the ratio is about 10¹³.
const maxEffect = 30
