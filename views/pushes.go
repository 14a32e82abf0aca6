package views

// Pushes is what was pushed, and who caused it.
type Pushes struct {
	State State  `json:"state"`
	Type  string `json:"type,omitempty"`
	// Since and Steps say how much of the past is counted.
	Steps  int        `json:"steps"`
	Counts PushCounts `json:"counts"`
	// Talkers are the services and objects behind most steps.
	Services []Talker `json:"topServices"`
	Objects  []Talker `json:"topCauses"`
	Feed     Feed     `json:"feed"`
}

// PushCounts counts the steps in memory by what they pushed.
type PushCounts struct {
	Full        int `json:"full"`
	Incremental int `json:"incremental"`
	None        int `json:"none"`
	// Events is the number of changes of objects, Merged those that needed no
	// step of their own.
	Events int `json:"events"`
	Merged int `json:"merged"`
	// P50MS and P99MS are times from the event to the published state.
	P50MS float64 `json:"p50Ms"`
	P99MS float64 `json:"p99Ms"`
}

// Talker is something that caused many steps.
type Talker struct {
	Link  Link `json:"link"`
	Steps int  `json:"steps"`
}
