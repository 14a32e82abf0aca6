package views

// Troubles are what is wrong with the source, as every page shows it.
type Troubles struct {
	Count int `json:"count"`
	// Mark changes whenever a problem comes or goes.
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
