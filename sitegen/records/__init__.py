"""What a measurement is: frozen types, their JSON form, and the files that hold them."""
