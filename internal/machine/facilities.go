package machine

// Names of facilities in a result. Found always means that the machine can report or do it; its
// report is in the note. The first group helps tare to measure, the second describes the state of
// the machine.
const (
	ChildGroup       = "child control group"
	KillGroup        = "cgroup.kill"
	MemoryController = "memory controller"
	CPUPressure      = "cpu pressure"
	RunQueue         = "run-queue wait"
	Throttling       = "throttling"
	HardwareCounters = "hardware counters"
	Affinity         = "affinity"
	TaggedProcesses  = "tagged processes"

	Governor       = "cpu governor"         // its name
	Turbo          = "turbo"                // on, off
	PowerSupply    = "power supply"         // mains, battery
	CoreKinds      = "kinds of cores"       // one, or how many
	Siblings       = "simultaneous threads" // on, off
	VirtualMachine = "virtual machine"      // yes, no
	Clock          = "clock"                // its source and step
)
