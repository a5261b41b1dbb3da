package tare

import "strings"

// Ids of the two contenders that join every study by themselves.
const (
	ControlID = "control" // the baseline entered a second time (A/A)
	NullID    = "null"    // the harness doing nothing
)

// Role is what a contender is there for.
type Role string

// Roles. Only contenders and the baseline are ranked; those that stand apart
// are compared with the baseline all the same.
const (
	RoleContender Role = "contender"
	RoleBaseline  Role = "baseline"
	RoleControl   Role = "control"
	RoleNull      Role = "null"
	RoleApart     Role = "apart" // its answers are compared with their status alone: it does another job, or part of one
	RoleTrap      Role = "trap"  // reproduces a published mistake; labelled, never ranked or compared
)

// Launch is how a contender comes to run.
type Launch string

// Launches.
const (
	LaunchProgram Launch = "program" // built here, speaks the contender protocol
	LaunchCommand Launch = "command" // the user's own command line: a server, or a program that speaks the contender protocol
	LaunchURL     Launch = "url"     // a server that somebody else runs
	LaunchGobench Launch = "gobench" // test binaries of a module, built here
)

// Contender is one implementation under test as it was built: who it says it
// is and what its binary says it is.
type Contender struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Role    Role   `json:"role"`
	Name    string `json:"name"`              // e.g. github.com/json-iterator/go
	Version string `json:"version,omitempty"` // of Name, from the built binary
	Variant string `json:"variant,omitempty"`

	Start

	Set map[string]string `json:"set,omitempty"` // how it is configured
	Why string            `json:"why,omitempty"` // one line: what it is, or for a trap what it reproduces

	Build
	Declared

	Adoption Adoption `json:"adoption,omitzero"`
	Error    string   `json:"error,omitempty"` // why it could not be built, or what is not installed, one line
}

// Start is how a contender is started, and where what it delivers is found. Fields
// other than Launch are of launch command, except URL.
type Start struct {
	Launch   Launch            `json:"launch,omitempty"`   // empty: program
	Command  []string          `json:"command,omitempty"`  // the command line
	URL      string            `json:"url,omitempty"`      // of launch url
	Path     string            `json:"path,omitempty"`     // what every path begins with, e.g. /ingest
	Files    map[string]string `json:"files,omitempty"`    // texts by the name under which they lie in $DIR
	Delivers string            `json:"delivers,omitempty"` // where it delivers, an item a line: a pattern of files, or $DESTINATION
}

// Build is what a contender was built from. It is empty where tare built nothing.
type Build struct {
	Modules     []Module `json:"modules,omitempty"`
	Go          string   `json:"go,omitempty"`
	Flags       []string `json:"flags,omitempty"`
	BinaryBytes int64    `json:"binary_bytes,omitempty"`
	SHA256      string   `json:"sha256,omitempty"` // of the binary
}

// Declared is what a contender's author, or its study, says of it.
type Declared struct {
	Layers    []string `json:"layers,omitempty"`    // middleware
	Protocols []string `json:"protocols,omitempty"` // of an rpc contender: that it can be asked in, the usual one first
	Expect    Expect   `json:"expect,omitzero"`
	Identity  Identity `json:"identity"`
}

// notInstalled begins the error of a contender whose programs are not there.
const notInstalled = "not installed: "

// NotInstalled is what Error says of a contender that takes programs which are
// not there.
func NotInstalled(programs []string) string { return notInstalled + strings.Join(programs, ", ") }

// Absent reports whether the contender was left out because it takes programs
// that are not there.
func (c Contender) Absent() bool { return strings.HasPrefix(c.Error, notInstalled) }

// Title is how a contender is printed: its id, and for a trap a dagger.
func (c Contender) Title() string {
	if c.Role == RoleTrap {
		return c.ID + "†"
	}
	return c.ID
}

// String is name@version, or the id where nothing was built.
func (c Contender) String() string {
	switch {
	case c.Name == "":
		return c.ID
	case c.Version == "":
		return c.Name
	}
	return c.Name + "@" + c.Version
}

// Module is a Go module linked into a binary.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Replace string `json:"replace,omitempty"`
}

// Identity is what a contender claims to contain and what its binary lacks.
type Identity struct {
	ClaimedModules []string `json:"claimed_modules,omitempty"` // path or path@version
	ClaimedSymbols []string `json:"claimed_symbols,omitempty"` // function names, matched as substrings
	MissingModules []string `json:"missing_modules,omitempty"`
	MissingSymbols []string `json:"missing_symbols,omitempty"`
}

// Adoption is what taking a contender into a service costs besides time. A
// zero field is not known.
type Adoption struct {
	ModulesLinked    int      `json:"modules_linked"`               // third-party modules in the binary
	ModulesRequired  int      `json:"modules_required,omitempty"`   // third-party modules in the go.mod it is built with, indirect ones too; zero: none, or not known
	Licences         []string `json:"licences,omitempty"`           // of those modules, SPDX identifiers, each once, sorted; "unknown" where there is no text or it was not recognised
	Released         string   `json:"released,omitempty"`           // YYYY-MM-DD: of the version of Name that was measured; empty for std, a directory, or where the module cache does not say
	Unmaintained     string   `json:"unmaintained,omitempty"`       // one line: why it counts as unmaintained; empty: nothing is known against it
	ColdBuildSeconds float64  `json:"cold_build_seconds,omitempty"` // of a go build that compiled every third-party package, with std and the SDK compiled before
	IdleRSSBytes     int64    `json:"idle_rss_bytes,omitempty"`     // resident memory before the first request
	StartSeconds     float64  `json:"start_seconds,omitempty"`      // from starting the process to its first answer, median of some starts
}
