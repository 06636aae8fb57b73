"""What the authors of integrations do on their machines: begin one, publish it, run it while they write it."""
