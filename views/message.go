package views

// Error is a page for what went wrong.
type Error struct {
	Status  int
	Title   string
	Message string
	Next    []Link
	// Ask is a question that cannot be answered, nil if there was none.
	Ask *Explain
}

// Login is the page for somebody who is not logged in.
type Login struct {
	// Message is the error of the last attempt, "" for none.
	Message string
}
