package tare

import "strings"

// Ids of the two contenders that join every study by themselves.
const (
	ControlID = "control" // the baseline a second time (an A/A test)
	NullID    = "null"    // a contender that does nothing, which shows the overhead of the measurement
)

// Role is the purpose of a contender in a study.
type Role string

// Roles. Only contenders with RoleContender and RoleBaseline are ranked.
const (
	RoleContender Role = "contender"
	RoleBaseline  Role = "baseline"
	RoleControl   Role = "control"
	RoleNull      Role = "null"
	RoleApart     Role = "apart" // does another job, or a part of the job: of its answers only the status is checked
	RoleTrap      Role = "trap"  // reproduces a published mistake; never ranked or compared
)

// Launch is the way a contender is started.
type Launch string

// Launches.
const (
	LaunchProgram Launch = "program" // built by tare; speaks the contender protocol
	LaunchCommand Launch = "command" // a command line of the user: a server, or a program that speaks the contender protocol
	LaunchURL     Launch = "url"     // a server that tare did not start
	LaunchGobench Launch = "gobench" // test binaries of a module, which tare builds
)

// Contender is one implementation under test as it was built.
type Contender struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Role    Role   `json:"role"`
	Name    string `json:"name"`              // e.g. github.com/json-iterator/go
	Version string `json:"version,omitempty"` // version of Name, read from the binary
	Variant string `json:"variant,omitempty"`

	Start

	Set map[string]string `json:"set,omitempty"` // its configuration
	Why string            `json:"why,omitempty"` // description; for a trap, the mistake that it reproduces

	Build
	Declared

	Adoption Adoption `json:"adoption,omitzero"`
	Error    string   `json:"error,omitempty"` // why it could not be built, or which programs are not installed; "" if neither
}

// Start describes how a contender is started, and where it delivers items, e.g. log lines. Only
// LaunchURL has URL, and only LaunchCommand the other fields.
type Start struct {
	Launch   Launch            `json:"launch,omitempty"` // "" means program
	Command  []string          `json:"command,omitempty"`
	URL      string            `json:"url,omitempty"`      // address of the server
	Path     string            `json:"path,omitempty"`     // prefix of the path of every request, e.g. /ingest
	Files    map[string]string `json:"files,omitempty"`    // contents of files by their name in $DIR
	Delivers string            `json:"delivers,omitempty"` // destination of its items; see Entry.Delivers
}

// Build describes the sources of a contender, if tare built it.
type Build struct {
	Modules     []Module `json:"modules,omitempty"`
	Go          string   `json:"go,omitempty"`
	Flags       []string `json:"flags,omitempty"`
	BinaryBytes int64    `json:"binary_bytes,omitempty"`
	SHA256      string   `json:"sha256,omitempty"` // digest of the binary
}

// Declared contains what the author of a contender, or its study, declares.
type Declared struct {
	Layers    []string `json:"layers,omitempty"`    // middleware
	Protocols []string `json:"protocols,omitempty"` // protocols that an rpc contender serves, the usual one first
	Expect    Expect   `json:"expect,omitzero"`
	Identity  Identity `json:"identity"`
}

const notInstalled = "not installed: "

// NotInstalled returns the Error of a contender whose required programs are not installed.
func NotInstalled(programs []string) string { return notInstalled + strings.Join(programs, ", ") }

// Absent reports whether the contender was skipped because programs are not installed.
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
	ClaimedSymbols []string `json:"claimed_symbols,omitempty"` // matched as substrings
	MissingModules []string `json:"missing_modules,omitempty"`
	MissingSymbols []string `json:"missing_symbols,omitempty"`
}

// Adoption is the cost of adopting a contender, except for time. 0 means unknown.
type Adoption struct {
	ModulesLinked    int      `json:"modules_linked"`               // third-party modules in the binary
	ModulesRequired  int      `json:"modules_required,omitempty"`   // third-party modules in its go.mod, indirect ones too
	Licences         []string `json:"licences,omitempty"`           // SPDX identifiers of the licences of these modules; "unknown" if one is not recognised
	Released         string   `json:"released,omitempty"`           // release date of the measured version, YYYY-MM-DD; "" if unknown
	Unmaintained     string   `json:"unmaintained,omitempty"`       // why it counts as unmaintained; "" if it does not
	ColdBuildSeconds float64  `json:"cold_build_seconds,omitempty"` // duration of a build that compiles every third-party package
	IdleRSSBytes     int64    `json:"idle_rss_bytes,omitempty"`     // resident memory before the first request
	StartSeconds     float64  `json:"start_seconds,omitempty"`      // time from the start of the process to its first answer
}
