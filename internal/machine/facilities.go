package machine

// Names of facilities in a result: features of the machine that measurements use, or that affect them. A
// facility is found if the machine has it or can report it; its value is in the note. The first group
// helps tare to measure. The second group describes the state of the machine: the comments have the
// possible values.
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
