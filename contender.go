package tare

import "strings"

// Ids of the two contenders that join every study by themselves.
const (
	ControlID = "control" // the baseline a second time (an A/A test)
	NullID    = "null"    // a contender that does nothing, which shows the overhead of the measurement
)

// Role is the purpose of a contender in a study.
type Role string

// Roles. Only contenders with RoleContender and RoleBaseline are ranked. Contenders with RoleApart are
// not ranked, but compared with the baseline.
const (
	RoleContender Role = "contender"
	RoleBaseline  Role = "baseline"
	RoleControl   Role = "control"
	RoleNull      Role = "null"
	RoleApart     Role = "apart" // does another job, or a part of the job: of its answers only the status is checked against the reference
	RoleTrap      Role = "trap"  // reproduces a published mistake; it is labelled, and never ranked or compared
)

// Launch is the way a contender is started.
type Launch string

// Launches.
const (
	LaunchProgram Launch = "program" // a program that tare builds, which speaks the contender protocol
	LaunchCommand Launch = "command" // a command line of the user: a server, or a program that speaks the contender protocol
	LaunchURL     Launch = "url"     // a server that tare did not start
	LaunchGobench Launch = "gobench" // test binaries of a module, which tare builds
)

// Contender is one implementation under test as it was built, with the declarations of its author and
// the facts of its binary.
type Contender struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Role    Role   `json:"role"`
	Name    string `json:"name"`              // e.g. github.com/json-iterator/go
	Version string `json:"version,omitempty"` // of Name, from the built binary
	Variant string `json:"variant,omitempty"`

	Start

	Set map[string]string `json:"set,omitempty"` // how it is configured
	Why string            `json:"why,omitempty"` // one line: a description, or for a trap the reproduced mistake

	Build
	Declared

	Adoption Adoption `json:"adoption,omitzero"`
	Error    string   `json:"error,omitempty"` // one line: why it could not be built, or the programs that are not installed; "" if neither
}

// Start describes how a contender is started, and where it delivers items, e.g. log lines. URL is only set
// for LaunchURL; the fields other than URL and Launch are only set for LaunchCommand.
type Start struct {
	Launch   Launch            `json:"launch,omitempty"`   // "" means program
	Command  []string          `json:"command,omitempty"`  // command line
	URL      string            `json:"url,omitempty"`      // address of the server
	Path     string            `json:"path,omitempty"`     // prefix of the path of every request, e.g. /ingest
	Files    map[string]string `json:"files,omitempty"`    // file contents by file name in $DIR
	Delivers string            `json:"delivers,omitempty"` // destination of its items, which it writes one a line: a pattern of file names, or $DESTINATION; see Entry.Delivers
}

// Build describes the sources of a contender. It is empty if tare built nothing.
type Build struct {
	Modules     []Module `json:"modules,omitempty"`
	Go          string   `json:"go,omitempty"`
	Flags       []string `json:"flags,omitempty"`
	BinaryBytes int64    `json:"binary_bytes,omitempty"`
	SHA256      string   `json:"sha256,omitempty"` // of the binary
}

// Declared contains what the author of a contender, or its study, declares about it.
type Declared struct {
	Layers    []string `json:"layers,omitempty"`    // middleware
	Protocols []string `json:"protocols,omitempty"` // of an rpc contender: the protocols that it serves, the usual one first
	Expect    Expect   `json:"expect,omitzero"`
	Identity  Identity `json:"identity"`
}

// notInstalled begins the Error of a contender that requires programs which are not installed.
const notInstalled = "not installed: "

// NotInstalled returns the Error of a contender that requires programs which are not installed.
func NotInstalled(programs []string) string { return notInstalled + strings.Join(programs, ", ") }

// Absent reports whether the contender was skipped because it requires programs that are not
// installed.
func (c Contender) Absent() bool { return strings.HasPrefix(c.Error, notInstalled) }

// Title returns the printed form of a contender: its id, and for a trap a dagger.
func (c Contender) Title() string {
	if c.Role == RoleTrap {
		return c.ID + "†"
	}
	return c.ID
}

// String returns name@version, or the id if nothing was built.
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

// Identity lists the claimed contents of a contender, and those that its binary lacks.
type Identity struct {
	ClaimedModules []string `json:"claimed_modules,omitempty"` // path or path@version
	ClaimedSymbols []string `json:"claimed_symbols,omitempty"` // function names, matched as substrings
	MissingModules []string `json:"missing_modules,omitempty"`
	MissingSymbols []string `json:"missing_symbols,omitempty"`
}

// Adoption is the cost of adopting a contender in a service, except for time. 0 means unknown.
type Adoption struct {
	ModulesLinked    int      `json:"modules_linked"`               // third-party modules in the binary
	ModulesRequired  int      `json:"modules_required,omitempty"`   // third-party modules in the go.mod it is built with, indirect ones too; 0 means none or unknown
	Licences         []string `json:"licences,omitempty"`           // SPDX identifiers of the licences of these modules, sorted, each once; "unknown" if a text is missing or not recognised
	Released         string   `json:"released,omitempty"`           // release date, YYYY-MM-DD, of the measured version of Name; "" for std, for a directory, or if the module cache does not know it
	Unmaintained     string   `json:"unmaintained,omitempty"`       // one line: why it counts as unmaintained; "" if it does not
	ColdBuildSeconds float64  `json:"cold_build_seconds,omitempty"` // duration of a go build that compiled every third-party package; std and the SDK were compiled before
	IdleRSSBytes     int64    `json:"idle_rss_bytes,omitempty"`     // resident memory before the first request
	StartSeconds     float64  `json:"start_seconds,omitempty"`      // from starting the process to its first answer, median of some starts
}
