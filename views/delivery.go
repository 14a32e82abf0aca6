package views

import "time"

// Delivery is how far a transition got on its way to the connected proxies.
type Delivery struct {
	// Affected is the number of proxies that it concerns: those that acknowledged
	// or rejected it, that needed no message or left, and those that are waited for.
	Affected  int `json:"affected"`
	Acked     int `json:"acked"`
	Rejected  int `json:"rejected"`
	Unchanged int `json:"unchanged"`
	Left      int `json:"left"`
	Waiting   int `json:"waiting"`
	// OnTheirWay are those among Waiting to which a message was sent.
	OnTheirWay int `json:"onTheirWay"`
	// FirstSent and Done are when the first message was sent, and when nobody was
	// waited for any more.
	FirstSent  time.Time   `json:"firstSent,omitzero"`
	Done       time.Time   `json:"done,omitzero"`
	Rejections []Rejection `json:"rejections,omitempty"`
}

// Rejection is what one proxy has against a transition.
type Rejection struct {
	Proxy   string    `json:"proxy"`
	Type    string    `json:"type"`
	Message string    `json:"message"`
	Time    time.Time `json:"time"`
}

// DeliveryRow is the delivery of the transition of a row.
type DeliveryRow struct {
	Seq      uint64
	Delivery Delivery
}

// title says in a sentence what the counts in a row leave out.
func (d Delivery) title() string {
	text := Count(d.Affected, "connected proxy has", "connected proxies have") + " something of the change in scope: " +
		Number(d.Acked) + " acknowledged it"
	if d.Unchanged > 0 {
		text += ", " + Number(d.Unchanged) + " needed no message"
	}
	if d.Left > 0 {
		text += ", " + Number(d.Left) + " left before"
	}
	return text
}
