"""What every room uses: errors, checked arguments, words, whole files. It knows no other room."""
