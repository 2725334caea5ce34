def vectors():
    return {}
