print("lifeline")
