package views

// Wrong is all that is wrong now, in one place.
type Wrong struct {
	State State `json:"state"`
	// Services in trouble and Findings about slices, at most as many as fit on a
	// page, and how many there are.
	Services     []ServiceRow `json:"services"`
	ServiceCount int          `json:"serviceCount"`
	Findings     []Finding    `json:"findings"`
	FindingCount int          `json:"findingCount"`
	Problems     []Problem    `json:"problems"`
	// Partial tells that less of the slices was looked at, as the objects are not at
	// hand.
	Partial bool `json:"partial,omitempty"`
}

// Total is how much is wrong.
func (m *Wrong) Total() int { return m.ServiceCount + m.FindingCount + len(m.Problems) }
