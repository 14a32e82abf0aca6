package views

// Troubles are what is wrong, as every page shows it: how much in all, and what of it is
// wrong with the source.
type Troubles struct {
	// Wrong counts what the page of all that is wrong lists.
	Wrong int `json:"-"`
	// Count is of the source.
	Count int `json:"count"`
	// Mark changes whenever a problem of the source comes or goes.
	Mark string `json:"-"`
	// Problems are the newest, and Mended those that went a short time ago.
	Problems []Problem `json:"problems,omitempty"`
	Mended   []Problem `json:"mended,omitempty"`
}

// Moving is what a live page gets anew every now and then.
type Moving struct {
	Stations []Station
	Rows     []DeliveryRow
	Troubles Troubles
}
