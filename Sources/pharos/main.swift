print("pharos")
