"""The chapters of the tour, each about one feature of lamina."""
