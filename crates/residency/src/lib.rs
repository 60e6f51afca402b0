//! Where each weight lives: registration, storage blocks, pins and the ledger of every device.
