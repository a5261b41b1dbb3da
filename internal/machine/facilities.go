package machine

// Names of facilities, features of the machine. The first group helps tare to measure. The second
// group affects measurements: its value is in the note of the facility, as the comments show.
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

	Governor       = "cpu governor"         // name of the governor
	Turbo          = "turbo"                // on, off
	PowerSupply    = "power supply"         // mains, battery
	CoreKinds      = "kinds of cores"       // one, or their number
	Siblings       = "simultaneous threads" // on, off
	VirtualMachine = "virtual machine"      // yes, no
	Clock          = "clock"                // clock source and smallest step
)
