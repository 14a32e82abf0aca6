package views

// DebugRow is a debug handler as the list has it.
type DebugRow struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Help   string `json:"help"`
	// Href leads to an answer, "" if the handler changes something or is about a proxy
	// and there is none.
	Href string `json:"-"`
}
